"""Results: attributes with the names of the JSON contract, and Arrow tables."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    Union,
    overload,
)

from . import _evenkeel, _html
from ._errors import ArgumentError
from ._evenkeel import Table
from ._records import Record
from ._stored import NativeRun, StoredRun, read_files
from ._summary import QpCounts, RailSummary, Summary
from ._values import optional_text, required_path, text

__all__ = [
    "Bound",
    "Check",
    "Comparison",
    "Figure",
    "Figures",
    "Qps",
    "RailRun",
    "Run",
    "Sweep",
    "Tables",
    "path_of",
    "plot",
    "run_of",
]


class Figure:
    """A figure. Notebooks display it; ``save`` writes it as SVG, PDF or PNG."""

    def __init__(self, drawn: Mapping[str, Any]) -> None:
        self._csv: str = drawn["csv"]
        #: Name of the figure, as used in file names: ``completion-cdf``.
        self.name: str = drawn["name"]
        self.title: str = drawn["title"]
        self.svg: str = drawn["svg"]
        #: The points of the figure as a tidy table, for matplotlib and others.
        #:
        #: It has a row for each point with ``figure``, ``panel``, ``series``, ``kind``, ``x``,
        #: ``y``, ``low`` and ``high`` (the band), in nanoseconds, bytes and bit/s. ``x_label`` and
        #: ``y_label`` name the axes. In matrices of links, ``column`` replaces ``x``. Rows of the
        #: kind ``event`` are failures.
        self.data: Table = drawn["data"]

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the figure. The ending of the path is the format: svg, pdf, png or csv."""
        path = required_path("path", path)
        ending = os.path.splitext(path)[1].lstrip(".").lower()
        is_csv = ending == "csv"
        content = self._csv.encode() if is_csv else bytes(_evenkeel.drawing(self.svg, ending))
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

    @overload
    def __getitem__(self, index: Union[int, str]) -> Figure: ...
    @overload
    def __getitem__(self, index: slice) -> List[Figure]: ...
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

    def __init__(self, native: NativeRun) -> None:
        self._native = native
        self._known: Dict[str, Table] = {}

    def __getitem__(self, name: str) -> Table:
        if name not in self._known:
            self._known[name] = self._native.table(name)
        return self._known[name]

    if TYPE_CHECKING:
        flows: Table
        links: Table
        ports: Table
        queue_pairs: Table
        paths: Table
        operations: Table
        timeline: Table

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __reduce__(self) -> Any:
        return (Tables, (StoredRun.of(self._native),))

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
    _native: NativeRun
    _warnings: Tuple[str, ...]

    def __init__(self, native: NativeRun, warnings: Sequence[str] = ()) -> None:
        super().__init__(json.loads(native.json()))
        object.__setattr__(self, "_native", native)
        object.__setattr__(self, "_warnings", tuple(warnings))
        #: Notes for the user about the scenario and the run.
        object.__setattr__(self, "notes", list(warnings) + list(native.warnings))

    def __reduce__(self) -> Any:
        return (type(self), (StoredRun.of(self._native), self._warnings))

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
        self._native.save(required_path("folder", folder))

    def plot(self, metric: str = "cct_ns", **choices: Any) -> Figures:
        """Draws the figures of ``evenkeel plot``; ``choices`` are those of :func:`plot`."""
        return plot(self, metric=metric, **choices)

    def __str__(self) -> str:
        return self._native.text()

    def _repr_html_(self) -> str:
        return _html.of_run(self)


class RailRun(Run, RailSummary):
    """The results of a run over several rails.

    It has the keys of ``evenkeel run --json`` for such a scenario, and the tables ``operations``
    and ``timeline``.
    """


def run_of(native: NativeRun, warnings: Sequence[str] = ()) -> Run:
    """Returns the results of a run: a `RailRun` for a scenario of several rails."""
    return (RailRun if "rails" in json.loads(native.json()) else Run)(native, warnings)


def _summary_of(values: Mapping[str, Any]) -> Summary:
    return (RailSummary if "rails" in values else Summary)(values)


class Comparison:
    """The results of a comparison."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._found = found
        #: The objects of ``evenkeel run --json``, policy by policy and seed by seed.
        self.runs: List[Summary] = [_summary_of(run) for run in json.loads(found["json"])["runs"]]
        of_runs = [(run.policy, note) for run in self.runs for note in run.get("warnings", [])]
        shared = [note for note in found["warnings"] if note not in [it for _, it in of_runs]]
        #: Notes for the user about the scenario and its runs, without repetitions.
        self.notes: List[str] = list(
            dict.fromkeys([*shared, *(f"{policy}: {note}" for policy, note in of_runs)])
        )
        #: Reasons why runs did not complete.
        self.incomplete: List[str] = list(found["incomplete"])

    @property
    def completed(self) -> bool:
        """True if every run completed."""
        return not self.incomplete and not self.missing

    @property
    def missing(self) -> int:
        """Number of runs that are missing, because Ctrl-C ended the comparison."""
        interrupted = json.loads(self._found["json"]).get("interrupted")
        return int(interrupted["runs_missing"]) if interrupted else 0

    @property
    def statistics(self) -> Table:
        """A row per policy and metric: median, its interval, ratio to the reference."""
        return _evenkeel.table_of_csv("comparison", self._found["csv"].encode())

    def json(self) -> str:
        """Returns the object that ``evenkeel compare --json`` prints."""
        return str(self._found["json"])

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the statistics as ``evenkeel compare --format csv`` does."""
        _evenkeel.write_comparison(required_path("path", path), self._found["csv"])

    def plot(self, metric: str = "cct_ns", **choices: Any) -> Figures:
        """Draws the figures of ``evenkeel plot``; ``choices`` are those of :func:`plot`."""
        return plot(self, metric=metric, **choices)

    def __getitem__(self, policy: str) -> List[Summary]:
        return [run for run in self.runs if run.policy == policy]

    def __len__(self) -> int:
        return len(self.runs)

    def __str__(self) -> str:
        return str(self._found["text"])

    def __repr__(self) -> str:
        policies = list(dict.fromkeys(run.policy for run in self.runs))
        return f"<evenkeel.Comparison of {', '.join(policies)}: {len(self.runs)} runs>"

    def _repr_html_(self) -> str:
        return _html.of_comparison(self)


class Sweep:
    """The results of a sweep."""

    def __init__(
        self,
        found: Mapping[str, Any],
        temporary: Optional[tempfile.TemporaryDirectory[str]] = None,
    ) -> None:
        self._found = found
        # Keeps the temporary folder alive as long as the results.
        self._temporary = temporary
        #: The folder with the results and the log of finished runs.
        self.folder: str = os.fspath(found["folder"])
        #: The errors of the rows without a complete run.
        self.errors: List[str] = list(found["errors"])

    def __reduce__(self) -> Any:
        files = None if self._temporary is None else read_files(self.folder)
        return (_sweep_of, (dict(self._found), files))

    def __copy__(self) -> Sweep:
        return self

    def __deepcopy__(self, _: Any) -> Sweep:
        return self

    @property
    def table(self) -> Table:
        """A row per point and seed: ``results.csv``."""
        return _evenkeel.table_of_csv("results", self._found["csv"].encode())

    @property
    def runs(self) -> List[Optional[Summary]]:
        """The objects of ``evenkeel run --json``, row by row; None without a result."""
        runs = json.loads(self._found["json"])
        return [None if run is None else _summary_of(run) for run in runs]

    def plot(self, metric: str = "cct_ns", **choices: Any) -> Figures:
        """Draws the figures of ``evenkeel plot``; ``choices`` are those of :func:`plot`."""
        return plot(self, metric=metric, **choices)

    def _is_in_folder(self) -> bool:
        """False after an interruption, or if another start has replaced the results."""
        try:
            with open(os.path.join(self.folder, "results.csv"), "rb") as file:
                return file.read() == str(self._found["csv"]).encode()
        except OSError:
            return False

    def __len__(self) -> int:
        return int(self._found["rows"])

    def __repr__(self) -> str:
        return f"<evenkeel.Sweep of {len(self)} runs, {len(self.errors)} with an error>"

    def _repr_html_(self) -> str:
        return _html.of_sweep(self)


def _sweep_of(found: Dict[str, Any], files: Optional[Mapping[str, bytes]]) -> Sweep:
    """Restores a pickled sweep. The files of a temporary folder get another temporary folder."""
    if files is None:
        return Sweep(found)
    for name in files:
        # A name with a folder would write outside of the temporary folder.
        if name in ("", os.curdir, os.pardir) or os.path.basename(name) != name:
            expected = "expected the name of a file, not a path"
            raise ArgumentError(f"file {name!r} of the sweep: {expected}")
    temporary = tempfile.TemporaryDirectory(prefix="evenkeel-")
    folder = os.path.join(temporary.name, "sweep")
    os.mkdir(folder)
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    return Sweep({**found, "folder": folder}, temporary)


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

    def __reduce__(self) -> Any:
        return (Bound, (self.to_dict(), self.by))


class Qps(Record):
    """The queue pairs of a scenario: the keys of ``evenkeel qps --json``."""

    _KINDS: ClassVar[Mapping[str, Type[Record]]] = {"qps": QpCounts}

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


#: Results of this package, or paths as on the command line.
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
    names = [order] if isinstance(order, str) else order
    choices = {
        "figure": optional_text("figure", figure),
        "metric": text("metric", metric),
        "x": optional_text("x", x),
        "facet": optional_text("facet", facet),
        "band": text("band", band),
        "title": optional_text("title", title),
        "x_label": optional_text("x_label", x_label),
        "y_label": optional_text("y_label", y_label),
        "x_scale": optional_text("x_scale", x_scale),
        "y_scale": optional_text("y_scale", y_scale),
        "order": None if names is None else [text("order", it) for it in _items("order", names)],
        "size": None if size is None else _size(size),
        "units": text("units", units),
    }
    with tempfile.TemporaryDirectory(prefix="evenkeel-") as folder:
        paths = [path_of(result, folder, index) for index, result in enumerate(results)]
        drawn, notes = _evenkeel.figures(paths, choices)
    return Figures([Figure(one) for one in drawn], notes)


def _items(name: str, given: Any) -> List[Any]:
    if not isinstance(given, (list, tuple)):
        kind = type(given).__name__
        raise ArgumentError(f"{name} = {given!r}: expected a list, not {kind}")
    return list(given)


def _size(size: Any) -> Tuple[float, float]:
    try:
        width, height = size
        return (float(width), float(height))
    except (TypeError, ValueError):
        expected = "expected width and height in pixels, such as (640, 400)"
        raise ArgumentError(f"size = {size!r}: {expected}") from None


def path_of(result: Drawn, folder: str, index: int) -> str:
    if isinstance(result, Run):
        path = os.path.join(folder, str(index))
        result.save(path)
        return path
    if isinstance(result, Comparison):
        path = os.path.join(folder, f"{index}.csv")
        result.save(path)
        return path
    if isinstance(result, Sweep):
        if result._is_in_folder():
            if result._temporary is None:
                return result.folder
            return shutil.copytree(result.folder, os.path.join(folder, str(index)))
        path = os.path.join(folder, f"{index}.csv")
        with open(path, "wb") as file:
            file.write(result._found["csv"].encode())
        return path
    if isinstance(result, (str, os.PathLike)):
        return os.fspath(result)
    kind = type(result).__name__
    raise ArgumentError(f"results: {kind}: expected a Run, Comparison, Sweep or path")
