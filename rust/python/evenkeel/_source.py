"""The forms of a scenario argument: a path, TOML text, a table, or an object."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Mapping, Optional, Union

from . import _evenkeel
from ._errors import ArgumentError

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
    return json.dumps(_plain(table))


def _plain(value: Any) -> Any:
    """Converts a value to JSON types; omits keys whose value is None."""
    if isinstance(value, Table):
        return _plain(value.to_dict())
    if isinstance(value, Mapping):
        plain = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise ArgumentError(f"{key!r}: expected a str as the key of a table")
            if item is not None:
                plain[key] = _plain(item)
        return plain
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (str, bool, int, float)):
        return value
    # Scalars of other libraries, such as NumPy.
    if hasattr(value, "item"):
        return _plain(value.item())
    kind = type(value).__name__
    raise ArgumentError(
        f"{value!r}: expected a str, int, float, bool, list, dict or path, not {kind}"
    )


def is_text(given: str) -> bool:
    """True for TOML text, False for a path."""
    return "\n" in given or "=" in given


def source_of(given: ScenarioLike, name: Optional[str], default: str = "scenario") -> Dict[str, Any]:
    """Returns text and path as the compiled part expects them.

    Text and tables are read as if they were the file ``name.toml`` in the working folder.
    """
    if isinstance(given, (Table, Mapping)):
        text: Optional[str] = _evenkeel.toml_of_json(_json(_plain(given)))
    elif isinstance(given, str) and is_text(given):
        text = given
    elif isinstance(given, (str, os.PathLike)):
        if name is not None:
            raise ArgumentError("name: not allowed for a file, which has its own name; omit it")
        return {"text": None, "path": os.fspath(given)}
    else:
        kind = type(given).__name__
        raise ArgumentError(
            f"{kind}: expected a path, TOML text, a dict or an evenkeel.Scenario"
        )
    file = f"{default if name is None else name}.toml"
    if os.path.basename(file) != file:
        raise ArgumentError(f"name = {name!r}: expected a name without folders")
    return {"text": text, "path": file}
