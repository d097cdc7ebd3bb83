"""Values of parameters: those of Python and of NumPy, as the compiled part expects them."""

from __future__ import annotations

import json
import math
import operator
import os
from typing import Any, Mapping, Optional, Union

from ._errors import ArgumentError

__all__ = [
    "Path",
    "flag",
    "inline",
    "optional_text",
    "path",
    "plain",
    "required_path",
    "text",
    "whole",
]

Path = Union[str, "os.PathLike[str]"]

#: Whole numbers that TOML can express.
LIMIT = 2**63


def plain(value: Any, name: str = "") -> Any:
    """Converts a value to JSON types. Omits keys whose value is None. Errors name the parameter."""
    if isinstance(value, str):
        if any("\ud800" <= it <= "\udfff" for it in value):
            raise ArgumentError(f"{_of(name, value)}: expected text without surrogates")
        return value
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -LIMIT <= value < LIMIT:
            raise ArgumentError(f"{_of(name, value)}: expected a whole number below 2^63")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ArgumentError(f"{_of(name, value)}: expected a finite number")
        return float(value)
    if isinstance(value, Mapping):
        table = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise ArgumentError(f"{_of(name, key)}: expected a str as the key of a table")
            if item is not None:
                table[plain(str(key), name)] = plain(item, f"{name}.{key}" if name else key)
        return table
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{name}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "to_dict") and not hasattr(value, "tolist"):
        return plain(value.to_dict(), name)
    # Scalars and arrays of NumPy, and of libraries like it.
    converted = value.tolist() if hasattr(value, "tolist") else value
    if type(converted) is not type(value):
        return plain(converted, name)
    kind = type(value).__name__
    raise ArgumentError(
        f"{_of(name, value)}: expected a str, int, float, bool, list, dict or path, not {kind}"
    )


def _of(name: str, value: Any) -> str:
    return f"{name} = {value!r}" if name else repr(value)


def whole(
    name: str, value: Any, least: int = 1, most: Optional[int] = None
) -> int:
    """Returns a whole number of Python or NumPy. Fails with the name of the parameter."""
    span = f"from {least} to {most}" if most is not None else f"of at least {least}"
    expected = f"{name} = {value!r}: expected a whole number {span}"
    if isinstance(value, bool):
        raise ArgumentError(expected)
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{expected}, not {type(value).__name__}") from None
    if number < least or number > (LIMIT - 1 if most is None else most):
        raise ArgumentError(expected)
    return number


def flag(name: str, value: Any) -> bool:
    """Returns a truth value of Python or NumPy. Fails with the name of the parameter."""
    converted = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(converted, bool):
        kind = type(value).__name__
        raise ArgumentError(f"{name} = {value!r}: expected True or False, not {kind}")
    return converted


def path(name: str, value: Any) -> Optional[str]:
    """Returns a path as text; None stays None. Fails with the name of the parameter."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        text = os.fspath(value)
        if isinstance(text, str):
            return text
    kind = type(value).__name__
    raise ArgumentError(f"{name} = {value!r}: expected a path, not {kind}")


def required_path(name: str, value: Any) -> str:
    """Returns a path as text. Fails with the name of the parameter."""
    found = path(name, value)
    if found is None:
        raise ArgumentError(f"{name} = None: expected a path")
    return found


def text(name: str, value: Any) -> str:
    """Returns a text. Fails with the name of the parameter."""
    if not isinstance(value, str):
        raise ArgumentError(f"{name} = {value!r}: expected a str, not {type(value).__name__}")
    return value


def optional_text(name: str, value: Any) -> Optional[str]:
    """Returns a text or None. Fails with the name of the parameter."""
    return None if value is None else text(name, value)


def inline(value: Any) -> str:
    """Formats a plain value as TOML in one line."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{inline(key)} = {inline(it)}" for key, it in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    # JSON escapes characters beyond U+FFFF as surrogate pairs, which TOML rejects, but leaves DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
