"""The commands of the command line that describe names and write files."""

from __future__ import annotations

import os
import tempfile
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import _evenkeel
from ._api import loaded, overrides_of, run
from ._arguments import documented
from ._errors import ArgumentError, EvenkeelWarning
from ._policies import PolicyLike
from ._progress import ProgressLike
from ._results import Drawn, path_of
from ._source import ScenarioLike
from ._values import Path, optional_text, path, required_path, text

__all__ = ["explain", "export", "import_", "list", "report", "trace"]


def _warn(notes: Sequence[str]) -> None:
    for note in notes:
        warnings.warn(note, EvenkeelWarning, stacklevel=3)


def explain(key: str) -> str:
    """Explains a key of a scenario, a name in one, or a metric of results: ``evenkeel explain``.

    key: a key with or without its section ("switch.ecn.step", "step"), a section ("record"), a
        parameter ("policy.buffer"), a name that :func:`list` returns, or a metric ("cct_ns").

    Example: print(evenkeel.explain("failure.convergence"))
    """
    return "\n".join(_evenkeel.explain(text("key", key)))


def list(what: str) -> List[Dict[str, str]]:
    """Lists the names that scenarios and options accept: ``evenkeel list``.

    what: "policies", "collectives", "topologies", "workloads", "models", "allocators",
        "congestion-controls", "recoveries" or "formats".

    Each dict has the name, its description and its source; formats have contents and commands.

    Example: [it["name"] for it in evenkeel.list("policies")]
    """
    headings, rows = _evenkeel.listing(text("what", what))
    return [dict(zip(["name", *headings[1:]], row)) for row in rows]


def report(
    *results: Drawn,
    out: Path,
    question: Optional[str] = None,
    metric: str = "cct_ns",
) -> str:
    """Writes one HTML page that answers a question with results: ``evenkeel report``.

    results: runs, comparisons, sweeps, or folders of results.
    out: the page; only an earlier page is replaced. Returned as a str.
    question: the question that the results answer; by default a generated one.
    metric: the metric of the answer and of the charts, such as "slowdown" or "packets.dropped".

    Example: evenkeel.report(comparison, out="compare.html", question="Does REPS help?")
    """
    page, asked = required_path("out", out), optional_text("question", question)
    if not results:
        raise ArgumentError("results: none; expected results or their folders")
    with tempfile.TemporaryDirectory(prefix="evenkeel-") as folder:
        request = {
            "folders": [path_of(it, folder, index) for index, it in enumerate(results)],
            "out": page,
            "question": asked,
            "metric": text("metric", metric),
            "temporary": folder,
        }
        notes = _evenkeel.write_page(request)
    _warn(notes)
    return page


def import_(
    file: Path,
    *,
    format: Optional[str] = None,
    topology: Optional[Path] = None,
    set: Optional[Mapping[str, Any]] = None,
    out: Optional[Path] = None,
) -> str:
    """Returns a scenario that runs a file of another simulator, as TOML: ``evenkeel import``.

    file: the file to import; for Chakra traces, the file of one rank or the prefix of all.
    format: "hpcc", "htsim", "goal", "chakra", "simccl" or "infragraph"; by default from the
        extension.
    topology: the file of the fabric, for files of messages.
    set: keys of the scenario, such as {"topology.delay": "500ns"}.
    out: also writes the scenario to this new file. Paths in it are relative to its folder.

    Example: evenkeel.run(evenkeel.import_("schedule.goal"))
    """
    request = {
        "file": required_path("file", file),
        "format": optional_text("format", format),
        "topology": path("topology", topology),
        "set": overrides_of(set),
        "out": path("out", out),
    }
    scenario, notes = _evenkeel.import_file(request)
    _warn(notes)
    return scenario


@documented
def export(
    scenario: ScenarioLike,
    format: str,
    out: Path,
    *,
    seed: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    force: bool = False,
    name: Optional[str] = None,
) -> List[str]:
    """Writes the fabric and the messages of a scenario for another simulator: ``evenkeel export``.

    format: "hpcc", "htsim", "goal", "chakra" or "infragraph".
    out: the folder of the files. Existing files are replaced, except those that the scenario reads.

    Returns the paths of the files; for traces, one path in which RANK stands for the rank.

    Example: evenkeel.export("examples/ring-all-reduce.toml", "goal", "files")
    """
    scene = loaded(scenario, name, seed=seed, set=set, force=force)
    files, notes = scene.export(text("format", format), required_path("out", out))
    _warn([*scene.warnings, *notes])
    return [os.fspath(file) for file in files]


@documented
def trace(
    scenario: ScenarioLike,
    out: Path,
    *,
    policy: Optional[PolicyLike] = None,
    seed: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    force: bool = False,
    progress: ProgressLike = None,
    name: Optional[str] = None,
) -> List[str]:
    """Writes the workload of a scenario as Chakra traces: ``evenkeel trace``; or a timeline.

    out: a folder for the traces SCENARIO.RANK.et, without simulating. If it ends in .pftrace, the
        scenario is simulated and its timeline for ui.perfetto.dev is written to this file, as
        ``evenkeel run --trace`` does.
    policy: for a timeline, overrides the scenario's policy.

    Returns the paths of the files.

    Example: evenkeel.trace("examples/idle-path.toml", "run.pftrace", policy="spray")
    """
    target = required_path("out", out)
    if target.endswith(".pftrace"):
        run(
            scenario,
            policy=policy,
            seed=seed,
            set=set,
            force=force,
            trace=target,
            progress=progress,
            name=name,
        )
        return [target]
    if policy is not None:
        raise ArgumentError("policy: traces have no policy; omit it, or end out in .pftrace")
    scene = loaded(scenario, name, seed=seed, set=set, force=force)
    files, notes = scene.traces(target)
    _warn([*scene.warnings, *notes])
    return [os.fspath(file) for file in files]
