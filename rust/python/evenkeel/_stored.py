"""Results of a run without the run: what a pickle brings to another process."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Protocol

from . import _evenkeel
from ._errors import ArgumentError
from ._evenkeel import Table

__all__ = ["NativeRun", "StoredRun"]


class NativeRun(Protocol):
    """The methods of a run that its results need."""

    @property
    def scenario_toml(self) -> Optional[str]: ...
    @property
    def incomplete(self) -> Optional[str]: ...
    @property
    def warnings(self) -> List[str]: ...
    @property
    def violations(self) -> Optional[List[str]]: ...
    def json(self) -> str: ...
    def text(self) -> str: ...
    def tables(self) -> List[str]: ...
    def table(self, name: str) -> Table: ...
    def save(self, path: str) -> None: ...


@dataclass(frozen=True)
class StoredRun:
    """The results of a run as texts, and the files of its folder."""

    scenario_toml: Optional[str]
    incomplete: Optional[str]
    warnings: List[str]
    violations: Optional[List[str]]
    summary: str
    shown: str
    names: List[str]
    files: Dict[str, bytes]

    @classmethod
    def of(cls, run: NativeRun) -> StoredRun:
        """Stores a run. Its tables are read from the files of its folder."""
        if isinstance(run, StoredRun):
            return run
        with tempfile.TemporaryDirectory(prefix="evenkeel-") as folder:
            path = os.path.join(folder, "run")
            run.save(path)
            files = read_files(path)
        return cls(
            scenario_toml=run.scenario_toml,
            incomplete=run.incomplete,
            warnings=list(run.warnings),
            violations=run.violations,
            summary=run.json(),
            shown=run.text(),
            names=list(run.tables()),
            files=files,
        )

    def json(self) -> str:
        return self.summary

    def text(self) -> str:
        return self.shown

    def tables(self) -> List[str]:
        return list(self.names)

    def table(self, name: str) -> Table:
        if name in self.names:
            return _evenkeel.table_of_csv(name, self.files[f"{name}.csv"])
        recorded = name in ("ports", "queue_pairs", "paths")
        hint = "; add it with [record] in the scenario" if recorded else ""
        names = ", ".join(self.names)
        raise ArgumentError(f"the run has no table '{name}'{hint}; it has {names}")

    def save(self, path: str) -> None:
        _evenkeel.write_run(path, list(self.files.items()))

    def __copy__(self) -> StoredRun:
        return self

    def __deepcopy__(self, _: Any) -> StoredRun:
        return self


def read_files(folder: str) -> Dict[str, bytes]:
    """Returns the content of the files of a folder, by name."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found
