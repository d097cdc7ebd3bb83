"""Scenarios as objects: sections with the keys of the file, which omit keys that are not given."""

from __future__ import annotations

import inspect
import json
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from . import _evenkeel, _keys
from ._errors import ArgumentError
from ._section import Section
from ._sections import (
    Failure,
    Handler,
    Hosts,
    Job,
    Policy,
    Rail,
    Record,
    Switch,
    Topology,
    TrafficClass,
    Transport,
    Workload,
)
from ._source import ScenarioLike, Table, source_of

__all__ = ["Scenario"]

SectionLike = Union[Section, Mapping[str, Any]]


class Scenario(Table):
    """A scenario with the sections of the file. Keys that are not given have their defaults.

    A section is an object (``Topology(leaves=4)``) or a dict; ``help(Topology)`` and the others
    describe their keys. ``name`` is the name of the results. Errors are raised when the scenario is
    used, with the messages of the command line.

    Example: Scenario(topology=Topology(leaves=4), policy="reps", workload=Workload(bytes="1MB"))
    """

    def __init__(
        self,
        *,
        name: str = "scenario",
        seed: Optional[int] = None,
        time_limit: Optional[str] = None,
        fidelity: Optional[str] = None,
        topology: Union[Topology, Mapping[str, Any], None] = None,
        switch: Union[Switch, Mapping[str, Any], None] = None,
        transport: Union[Transport, Mapping[str, Any], None] = None,
        policy: Union[Policy, Mapping[str, Any], str, None] = None,
        workload: Union[Workload, Mapping[str, Any], None] = None,
        traffic_class: Sequence[Union[TrafficClass, Mapping[str, Any]]] = (),
        job: Sequence[Union[Job, Mapping[str, Any]]] = (),
        failure: Sequence[Union[Failure, Mapping[str, Any]]] = (),
        record: Union[SectionLike, Sequence[SectionLike], None] = None,
        hosts: Union[Hosts, Mapping[str, Any], None] = None,
        rail: Sequence[Union[Rail, Mapping[str, Any]]] = (),
        handler: Union[Handler, Mapping[str, Any], None] = None,
    ) -> None:
        #: Name of the results, like the stem of a scenario file.
        self.name = name
        self.seed = seed
        self.time_limit = time_limit
        self.fidelity = fidelity
        self.topology: Topology = _section(Topology, topology)
        self.switch: Switch = _section(Switch, switch)
        self.transport: Transport = _section(Transport, transport)
        self.policy: Policy = _section(
            Policy, {"name": policy} if isinstance(policy, str) else policy
        )
        self.workload: Workload = _section(Workload, workload)
        #: ``[[class]]``, which is not a valid name in Python.
        self.traffic_class: List[TrafficClass] = _list(TrafficClass, traffic_class)
        self.job: List[Job] = _list(Job, job)
        self.failure: List[Failure] = _list(Failure, failure)
        #: One section, or a list of named sections.
        self.record = _sections(Record, record)
        self.hosts: Hosts = _section(Hosts, hosts)
        self.rail: List[Rail] = _list(Rail, rail)
        self.handler: Handler = _section(Handler, handler)

    @classmethod
    def load(cls, given: ScenarioLike, *, name: Optional[str] = None) -> Scenario:
        """Loads a scenario from a file, TOML text or a table, with exactly the keys given there.

        Its paths are then relative to the working folder, not to the file.
        """
        source = source_of(given, name)
        text = source["text"]
        if text is None:
            with open(source["path"], encoding="utf-8") as file:
                text = file.read()
        table = json.loads(_evenkeel.json_of_toml(text, source["path"]))
        version = table.pop("schema_version", 1)
        if version != 1:
            table["schema_version"] = version
        path = source["path"].replace("\\", "/")
        stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        return _Loaded(stem, table)

    def to_dict(self) -> Dict[str, Any]:
        table: Dict[str, Any] = {}
        for key in ("seed", "time_limit", "fidelity"):
            if getattr(self, key) is not None:
                table[key] = getattr(self, key)
        for key in _TABLES:
            value = getattr(self, key)
            if isinstance(value, list):
                table[key] = [_section(Section, it).to_dict() for it in value]
            elif value.to_dict():
                table[key] = value.to_dict()
        for key in _LISTS:
            sections = getattr(self, _attribute(key))
            if sections:
                table[key] = [_section(Section, it).to_dict() for it in sections]
        return table

    def __repr__(self) -> str:
        return f"<evenkeel.Scenario {self.name}>\n{self.to_toml()}"


# Not lazy, because `help` reads it from the class's dict.
Scenario.__doc__ = f"{inspect.cleandoc(Scenario.__doc__ or '')}\n\n{_keys.documentation('')}"

_TABLES = ("topology", "switch", "transport", "policy", "workload", "record", "hosts", "handler")
_LISTS = ("class", "job", "failure", "rail")


class _Loaded(Scenario):
    """A scenario from a file. It keeps unknown keys, so that errors can name them."""

    def __init__(self, name: str, table: Dict[str, Any]) -> None:
        known = {"seed", "time_limit", "fidelity", *_TABLES, *_LISTS}
        given = {_attribute(key): it for key, it in table.items() if key in known}
        super().__init__(name=name, **given)
        self._unknown = {key: it for key, it in table.items() if key not in known}

    def to_dict(self) -> Dict[str, Any]:
        return {**self._unknown, **super().to_dict()}


def _attribute(key: str) -> str:
    """Returns the attribute of a section: its key, unless that is a Python keyword."""
    return "traffic_class" if key == "class" else key


def _section(kind: Any, given: Optional[SectionLike]) -> Any:
    if isinstance(given, Section):
        return given
    if given is not None and not isinstance(given, Mapping):
        name = kind._section or "section"
        raise ArgumentError(f"{name} = {given!r}: expected evenkeel.{kind.__name__} or a dict")
    section = kind()
    for key, value in _items(given):
        section[key] = value
    return section


def _sections(kind: Any, given: Union[SectionLike, Sequence[SectionLike], None]) -> Any:
    """Returns a section, or a list of them if a list is given."""
    if given is None or isinstance(given, (Section, Mapping)):
        return _section(kind, given)
    return _list(kind, given)


def _list(kind: Any, given: Any) -> Any:
    """Returns the sections of a list."""
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        expected = f"expected a list of evenkeel.{kind.__name__} or of dicts"
        raise ArgumentError(f"{kind._section} = {given!r}: {expected}")
    return [_section(kind, it) for it in given]


def _items(given: Optional[Mapping[str, Any]]) -> Iterator[Any]:
    return iter(() if given is None else given.items())
