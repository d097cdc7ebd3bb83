"""The base class of results: a JSON object with its keys as attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Dict, Iterator, List, Mapping, Optional, Type

__all__ = ["Record"]


class Record(Mapping[str, Any]):
    """A JSON object with its keys as attributes: ``run.fct_ns.p99``, ``run["fct_ns"]["p99"]``."""

    #: Classes of the objects below it, by key.
    _KINDS: ClassVar[Mapping[str, Type[Record]]] = {}

    #: Values of attributes whose key is absent.
    _ABSENT: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, values: Mapping[str, Any]) -> None:
        records = {key: _record(value, self._KINDS.get(key)) for key, value in values.items()}
        object.__setattr__(self, "_values", records)

    if not TYPE_CHECKING:
        # Type checkers know the attributes of each class, so that a misspelled one is an error.
        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            values: Dict[str, Any] = object.__getattribute__(self, "_values")
            if name in values:
                return values[name]
            if name in self._ABSENT:
                absent = self._ABSENT[name]
                return list(absent) if isinstance(absent, tuple) else absent
            kind = type(self).__name__
            known = ", ".join(values)
            raise AttributeError(f"{kind} has no attribute '{name}'; its values are {known}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: results cannot be changed")

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        values = ", ".join(f"{key}={value!r}" for key, value in self._values.items())
        return f"{type(self).__name__}({values})"

    def __reduce__(self) -> Any:
        return (type(self), (self.to_dict(),))

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _: Any) -> Any:
        return self

    def to_dict(self) -> Dict[str, Any]:
        """Returns the values as dicts and lists."""
        return {key: _plain(value) for key, value in self._values.items()}

    if TYPE_CHECKING:
        _values: Dict[str, Any]


def _record(value: Any, kind: Optional[Type[Record]]) -> Any:
    if isinstance(value, Record):
        return value
    if isinstance(value, Mapping):
        return (kind or Record)(value)
    return [_record(item, kind) for item in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    return [_plain(item) for item in value] if isinstance(value, list) else value
