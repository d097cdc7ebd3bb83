"""The base class of the sections of a scenario."""

from __future__ import annotations

import inspect
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    ClassVar,
    Dict,
    Generic,
    Iterator,
    Mapping,
    MutableMapping,
    Optional,
    TypeVar,
)

from . import _keys
from ._source import Table

T = TypeVar("T")


class Lazy(Generic[T]):
    """A class attribute that is computed when it is read, to keep `import evenkeel` fast."""

    def __init__(self, compute: Callable[[str], T]) -> None:
        self._compute = compute

    def __get__(self, _: object, owner: Any) -> T:
        return self._compute(owner._section)


class Section(Table, MutableMapping[str, Any]):
    """A section: its keys are attributes and items. A key that was not given has its default."""

    #: Name of the section in the file; empty for a section that accepts any key.
    _section: ClassVar[str] = ""

    #: Keys of the format, with every kind that they are for.
    KEYS = Lazy(_keys.keys)

    #: `help` and notebooks show the keys as keyword arguments.
    __signature__ = Lazy(_keys.signature)

    def __init_subclass__(cls, section: Optional[str] = None) -> None:
        super().__init_subclass__()
        if section is not None:
            cls._section = section
            # Not lazy, because `help` reads it from the class's dict.
            cls.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\n{_keys.documentation(section)}"

    def __init__(self, **keys: Any) -> None:
        object.__setattr__(self, "_given", {})
        for key, value in keys.items():
            if key not in self.KEYS and not _keys.takes_any(self._section):
                words = f"__init__() got an unexpected keyword argument '{key}'"
                raise TypeError(f"{type(self).__name__}.{words}")
            self[key] = value

    def default(self, key: str) -> Any:
        """Returns a key's default for this kind of section; None if it depends on other keys."""
        kinds = self.KEYS[key]
        if key != "kind" and "kind" in self.KEYS:
            every = {only for keys in self.KEYS.values() for only, _, _ in keys}
            # Every other kind of workload is the name of a collective.
            given = getattr(self, "kind")
            kind = given if given in every else "<collective>"
            kinds = tuple(it for it in kinds if it[0] in ("", kind))
        return kinds[0][1] if len({repr(value) for _, value, _ in kinds}) == 1 else None

    if TYPE_CHECKING:
        _given: Dict[str, Any]
    else:
        # Type checkers know the keys of each section, so that a misspelled one is an error.
        def __getattr__(self, key: str) -> Any:
            if key.startswith("_"):
                raise AttributeError(key)
            given: Dict[str, Any] = object.__getattribute__(self, "_given")
            if key in given:
                return given[key]
            if key in self.KEYS:
                return self.default(key)
            known = ", ".join(self.KEYS)
            raise AttributeError(f"{type(self).__name__} has no key '{key}'; its keys are {known}")

        def __setattr__(self, key: str, value: Any) -> None:
            self[key] = value

    def __getitem__(self, key: str) -> Any:
        return self._given[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if value is None:
            self._given.pop(key, None)
        else:
            self._given[key] = value

    def __delitem__(self, key: str) -> None:
        del self._given[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def __hash__(self) -> int:
        raise TypeError("a section is mutable, so it cannot be hashed")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self.to_dict() == dict(other)

    def __copy__(self) -> Section:
        copied = type(self).__new__(type(self))
        object.__setattr__(copied, "_given", dict(self._given))
        return copied

    def __dir__(self) -> Any:
        return [*super().__dir__(), *self.KEYS]

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self._given.items())
        return f"{type(self).__name__}({given})"

    def to_dict(self) -> Dict[str, Any]:
        return dict(self._given)
