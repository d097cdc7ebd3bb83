"""Results: attributes with the names of the JSON contract, and Arrow tables."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union

from . import _evenkeel, _html
from ._evenkeel import Table

__all__ = [
    "Bound",
    "Check",
    "Comparison",
    "Figure",
    "Figures",
    "Qps",
    "Record",
    "Run",
    "Summary",
    "Sweep",
    "Tables",
    "plot",
]


class Record(Mapping[str, Any]):
    """A JSON object with its keys as attributes: ``run.fct_ns.p99``, ``run["fct_ns"]["p99"]``."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        records = {key: _record(value, _KINDS.get(key)) for key, value in values.items()}
        object.__setattr__(self, "_values", records)

    def __getattr__(self, name: str) -> Any:
        values: Dict[str, Any] = object.__getattribute__(self, "_values")
        if name in values:
            return values[name]
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
        return (Record, (self.to_dict(),))

    def to_dict(self) -> Dict[str, Any]:
        """Returns the values as dicts and lists."""
        return {key: _plain(value) for key, value in self._values.items()}


def _record(value: Any, kind: Optional[Type[Record]]) -> Any:
    if isinstance(value, Record):
        return value
    if isinstance(value, Mapping):
        return (kind or Record)(value)
    return [_record(item, kind) for item in value] if isinstance(value, list) else value


class Fct(Record):
    """Completion times of completed messages in nanoseconds; None if no message completed."""

    min: Optional[float]
    mean: Optional[float]
    p50: Optional[float]
    p99: Optional[float]
    max: Optional[float]


class Packets(Record):
    """Counts of data packets."""

    sent: int
    delivered: int
    retransmitted: int
    dropped: int
    trimmed: int
    marked: int
    out_of_order: int


class QpCounts(Record):
    """Counts of queue pairs at their sending NICs."""

    per_nic_max: int
    total: int
    extra_per_nic_max: int
    extra_total: int


class State(Record):
    """State that policies keep at run time and that hardware would have to store."""

    switch_entries_max: int
    switch_bits_max: int
    sender_bits_per_qp_max: int


#: Class of an object, by its key.
_KINDS: Dict[str, Type[Record]] = {
    "fct_ns": Fct,
    "packets": Packets,
    "qps": QpCounts,
    "state": State,
}


class Summary(Record):
    """The results of a run, with the keys of ``evenkeel run --json``.

    The keys here are those of a run on one fabric; a run over several rails has other keys.
    """

    scenario: str
    policy: str
    seed: int
    version: str
    hosts: int
    switches: int
    links: int
    messages: int
    messages_completed: int
    flows: int
    flows_completed: int
    cct_ns: Optional[float]
    bound_ns: float
    slowdown: Optional[float]
    fct_ns: Fct
    packets: Packets
    pfc_pauses: Optional[int]
    queue_bytes_max: Optional[int]
    queue_bytes_mean: Optional[float]
    link_bytes_max: int
    qps: QpCounts
    state: State
    events: int
    packet_hops: Optional[int]
    wall_s: float
    peak_rss_bytes: Optional[int]


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    return [_plain(item) for item in value] if isinstance(value, list) else value


class Figure:
    """A figure. Notebooks display it; ``save`` writes it as SVG, PDF or PNG."""

    def __init__(self, native: _evenkeel.Drawn) -> None:
        self._native = native
        #: Name of the figure, as used in file names: ``completion-cdf``.
        self.name: str = native.name
        self.title: str = native.title
        self.svg: str = native.svg()

    @property
    def data(self) -> Table:
        """The points of the figure as a tidy table, for matplotlib and others.

        It has a row for each point with ``figure``, ``panel``, ``series``, ``kind``, ``x``, ``y``,
        ``low`` and ``high`` (the band), in nanoseconds, bytes and bit/s. ``x_label`` and
        ``y_label`` name the axes. In matrices of links, ``column`` replaces ``x``. Rows of the kind
        ``event`` are failures.
        """
        return self._native.data()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the figure. The ending of the path is the format: svg, pdf, png or csv."""
        ending = os.path.splitext(os.fspath(path))[1].lstrip(".").lower()
        content = bytes(self._native.bytes(ending))
        with open(path, "wb") as file:
            file.write(content)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<evenkeel.Figure {self.name}: {self.title}>"


class Figures(Sequence[Figure]):
    """A list of figures. Notebooks display all; ``figures["link-load"]`` selects one."""

    def __init__(self, figures: Sequence[Figure], notes: Sequence[str]) -> None:
        self._figures = list(figures)
        #: Reasons why figures were left out.
        self.notes = list(notes)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, str):
            return self._figures[index]
        for figure in self._figures:
            if figure.name.startswith(index):
                return figure
        names = ", ".join(figure.name for figure in self._figures)
        raise KeyError(f"unknown figure '{index}'; expected one of {names}")

    def __len__(self) -> int:
        return len(self._figures)

    def _repr_html_(self) -> str:
        return "".join(f"<div>{figure.svg}</div>" for figure in self._figures)

    def __repr__(self) -> str:
        return f"<evenkeel.Figures: {', '.join(figure.name for figure in self._figures)}>"


class Tables(Mapping[str, Table]):
    """The tables of a run, by name and as attributes; the columns are those of the CSV files."""

    def __init__(self, native: Union[_evenkeel.Run, _evenkeel.RailRun]) -> None:
        self._native = native
        self._known: Dict[str, Table] = {}

    def __getitem__(self, name: str) -> Table:
        if name not in self._known:
            self._known[name] = self._native.table(name)
        return self._known[name]

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.tables())

    def __len__(self) -> int:
        return len(self._native.tables())

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        return f"<evenkeel tables: {', '.join(self)}>"


class Run(Summary):
    """The results of a run: the keys of ``evenkeel run --json`` as attributes, and tables."""

    notes: List[str]
    _native: Union[_evenkeel.Run, _evenkeel.RailRun]

    def __init__(
        self, native: Union[_evenkeel.Run, _evenkeel.RailRun], warnings: Sequence[str] = ()
    ) -> None:
        super().__init__(json.loads(native.json()))
        object.__setattr__(self, "_native", native)
        #: Notes for the user about the scenario and the run.
        object.__setattr__(self, "notes", list(warnings) + list(native.warnings))

    def __reduce__(self) -> Any:
        return (Record, (self.to_dict(),))

    @property
    def completed(self) -> bool:
        """True if every message completed."""
        return self._native.incomplete is None

    @property
    def incomplete(self) -> Optional[str]:
        """Why and when the run stopped early, and what was incomplete; None if it completed."""
        return self._native.incomplete

    @property
    def scenario_toml(self) -> Optional[str]:
        """The scenario with every default, as TOML."""
        return self._native.scenario_toml

    @property
    def violations(self) -> Optional[List[str]]:
        """Invariants that the run violated, a bug in evenkeel; None without ``check=True``."""
        return self._native.violations

    @property
    def tables(self) -> Tables:
        """Arrow tables of the run.

        They are flows, links and, with ``[record]``, ports, queue pairs and paths over time. Runs
        over several rails have operations and their timeline.
        """
        return Tables(self._native)

    def json(self) -> str:
        """Returns the object that ``evenkeel run --json`` prints, byte for byte."""
        return self._native.json()

    def save(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the results folder of ``evenkeel run --out``."""
        self._native.save(os.fspath(folder))

    def plot(self, metric: str = "cct_ns", **choices: Any) -> Figures:
        """Draws the figures of ``evenkeel plot``; ``choices`` are those of :func:`plot`."""
        return plot(self, metric=metric, **choices)

    def __str__(self) -> str:
        return self._native.text()

    def _repr_html_(self) -> str:
        return _html.of_run(self)


class Comparison:
    """The results of a comparison."""

    def __init__(self, native: _evenkeel.Comparison) -> None:
        self._native = native
        #: The objects of ``evenkeel run --json``, policy by policy and seed by seed.
        self.runs: List[Summary] = [Summary(run) for run in json.loads(native.json())["runs"]]
        of_runs = [(run.policy, note) for run in self.runs for note in run.get("warnings", [])]
        shared = [note for note in native.warnings if note not in [it for _, it in of_runs]]
        #: Notes for the user about the scenario and its runs, without repetitions.
        self.notes: List[str] = list(
            dict.fromkeys([*shared, *(f"{policy}: {note}" for policy, note in of_runs)])
        )
        #: Reasons why runs did not complete.
        self.incomplete: List[str] = list(native.incomplete)

    @property
    def completed(self) -> bool:
        """True if every run completed."""
        return not self.incomplete

    @property
    def statistics(self) -> Table:
        """A row per policy and metric: median, its interval, ratio to the reference."""
        return self._native.statistics()

    def json(self) -> str:
        """Returns the object that ``evenkeel compare --json`` prints."""
        return self._native.json()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the statistics as ``evenkeel compare --format csv`` does."""
        self._native.save(os.fspath(path))

    def plot(self, metric: str = "cct_ns", **choices: Any) -> Figures:
        """Draws the figures of ``evenkeel plot``; ``choices`` are those of :func:`plot`."""
        return plot(self, metric=metric, **choices)

    def __getitem__(self, policy: str) -> List[Summary]:
        return [run for run in self.runs if run.policy == policy]

    def __len__(self) -> int:
        return len(self.runs)

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        policies = list(dict.fromkeys(run.policy for run in self.runs))
        return f"<evenkeel.Comparison of {', '.join(policies)}: {len(self.runs)} runs>"

    def _repr_html_(self) -> str:
        return _html.of_comparison(self)


class Sweep:
    """The results of a sweep."""

    def __init__(
        self,
        native: _evenkeel.Sweep,
        temporary: Optional[tempfile.TemporaryDirectory[str]] = None,
    ) -> None:
        self._native = native
        # Keeps the temporary folder alive as long as the results.
        self._temporary = temporary
        #: The folder with the results and the log of finished runs.
        self.folder: str = os.fspath(native.folder)
        #: The errors of the rows without a complete run.
        self.errors: List[str] = list(native.errors())

    @property
    def table(self) -> Table:
        """A row per point and seed: ``results.csv``."""
        return self._native.results()

    @property
    def runs(self) -> List[Optional[Summary]]:
        """The objects of ``evenkeel run --json``, row by row; None without a result."""
        runs = json.loads(self._native.json())
        return [None if run is None else Summary(run) for run in runs]

    def plot(self, metric: str = "cct_ns", **choices: Any) -> Figures:
        """Draws the figures of ``evenkeel plot``; ``choices`` are those of :func:`plot`."""
        return plot(self, metric=metric, **choices)

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<evenkeel.Sweep of {len(self)} runs, {len(self.errors)} with an error>"

    def _repr_html_(self) -> str:
        return _html.of_sweep(self)


class Bound(Record):
    """The lower bound of a scenario: the keys of ``evenkeel bound --json``."""

    scenario: str
    bound_ns: float
    rho_max: float
    by: str

    def __init__(self, values: Mapping[str, Any], by: str) -> None:
        super().__init__(values)
        #: The closed form that gives the bound, the largest of all.
        object.__setattr__(self, "by", by)


class Qps(Record):
    """The queue pairs of a scenario: the keys of ``evenkeel qps --json``."""

    scenario: str
    policy: str
    qps: QpCounts


class Check:
    """A scenario that was checked and is valid."""

    def __init__(self, native: _evenkeel.Loaded) -> None:
        self.scenario: str = native.name
        self.policy: str = native.policy
        self.seed: int = native.seed
        self.hosts: int = native.hosts
        #: Number of messages, or of operations with several rails.
        self.messages: int = native.messages
        self.notes: List[str] = list(native.warnings)
        #: The scenario with every default, as TOML.
        self.scenario_toml: str = native.render()
        self._line: str = native.check_line()

    def __str__(self) -> str:
        return self._line

    def __repr__(self) -> str:
        return f"<evenkeel.Check {self._line}>"


Drawn = Union[Run, Comparison, Sweep, str, "os.PathLike[str]"]


def plot(
    *results: Drawn,
    figure: Optional[str] = None,
    metric: str = "cct_ns",
    x: Optional[str] = None,
    facet: Optional[str] = None,
    band: str = "interval",
    title: Optional[str] = None,
    x_label: Optional[str] = None,
    y_label: Optional[str] = None,
    x_scale: Optional[str] = None,
    y_scale: Optional[str] = None,
    order: Union[str, Sequence[str], None] = None,
    size: Optional[Tuple[float, float]] = None,
    units: str = "plain",
) -> Figures:
    """Draws every figure that the results have data for, as ``evenkeel plot`` does.

    ``results`` are results of this package, or paths as on the command line. Several runs
    share a figure where they can be compared. ``figure`` is the start of the name of those to
    draw. ``x`` and ``facet`` are swept keys, for the
    horizontal axis and for panels. ``band`` is ``interval``, ``quartiles``, ``range`` or ``none``;
    scales are ``linear`` or ``log``. ``order`` is ``data``, ``name``, ``value`` or a list of names.
    ``size`` is width and height in pixels of 1/96 inch, and ``units="si"`` writes µs and kB.
    """
    choices = {
        "figure": figure,
        "metric": metric,
        "x": x,
        "facet": facet,
        "band": band,
        "title": title,
        "x_label": x_label,
        "y_label": y_label,
        "x_scale": x_scale,
        "y_scale": y_scale,
        "order": [order] if isinstance(order, str) else order,
        "size": size,
        "units": units,
    }
    with tempfile.TemporaryDirectory(prefix="evenkeel-") as folder:
        paths = [_path_of(result, folder, index) for index, result in enumerate(results)]
        drawn, notes = _evenkeel.figures(paths, choices)
    return Figures([Figure(one) for one in drawn], notes)


def _path_of(result: Drawn, folder: str, index: int) -> str:
    if isinstance(result, Run):
        path = os.path.join(folder, str(index))
        result.save(path)
        return path
    if isinstance(result, Comparison):
        path = os.path.join(folder, f"{index}.csv")
        result.save(path)
        return path
    return result.folder if isinstance(result, Sweep) else os.fspath(result)
