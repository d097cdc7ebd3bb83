"""The forms of a scenario argument: a path, TOML text, a table, or an object."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Mapping, Optional, Union

from . import _evenkeel
from ._errors import ArgumentError
from ._values import plain, text as text_of

#: A path (``os.PathLike``, or text of one line without ``=``), TOML text, or a table.
ScenarioLike = Union[str, "os.PathLike[str]", Mapping[str, Any], "Table"]


class Table:
    """An object that represents a TOML table: a scenario or one of its sections."""

    def to_dict(self) -> Dict[str, Any]:
        """Returns the keys that were given; others have their defaults."""
        raise NotImplementedError

    def to_toml(self) -> str:
        """Returns the keys that were given, as TOML."""
        return _evenkeel.toml_of_json(_json(self.to_dict()))


def _json(table: Mapping[str, Any]) -> str:
    return json.dumps(plain(table))


def is_text(given: str) -> bool:
    """True for TOML text, False for a path."""
    return "\n" in given or "=" in given


def source_of(
    given: ScenarioLike, name: Optional[str], default: str = "scenario"
) -> Dict[str, Any]:
    """Returns text and path as the compiled part expects them.

    Text and tables are read as if they were the file ``name.toml`` in the working folder.
    """
    if isinstance(given, (Table, Mapping)):
        text: Optional[str] = _evenkeel.toml_of_json(_json(plain(given)))
    elif isinstance(given, str) and is_text(given):
        text = given
    elif isinstance(given, (str, os.PathLike)):
        if name is not None:
            raise ArgumentError("name: not allowed for a file, which has its own name; omit it")
        return {"text": None, "path": os.fspath(given)}
    else:
        kind, what = type(given).__name__, "study" if default == "study" else "scenario"
        forms = "a path, TOML text or a dict"
        if what == "scenario":
            forms = "a path, TOML text, a dict or an evenkeel.Scenario"
        raise ArgumentError(f"{what} = {given!r}: expected {forms}, not {kind}")
    file = f"{default if name is None else text_of('name', name)}.toml"
    if os.path.basename(file) != file:
        raise ArgumentError(f"name = {name!r}: expected a name without folders")
    return {"text": text, "path": file}
