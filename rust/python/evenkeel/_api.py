"""The commands: the same as those of the command line, with the same messages."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _evenkeel
from ._errors import ArgumentError, EvenkeelWarning
from ._policies import PolicyLike, custom_of
from ._progress import Listener, ProgressLike
from ._results import Bound, Check, Comparison, Qps, Run, Sweep
from ._scenario import Scenario
from ._source import ScenarioLike, source_of

__all__ = ["bound", "check", "compare", "hpcc", "qps", "run", "sweep"]

Path = Union[str, "os.PathLike[str]"]


def _source(scenario: ScenarioLike, name: Optional[str]) -> Dict[str, Any]:
    default = scenario.name if isinstance(scenario, Scenario) else "scenario"
    return source_of(scenario, name, default)


def _overrides(
    policy: Optional[str], seed: Optional[int], set: Optional[Mapping[str, Any]], force: bool
) -> Dict[str, Any]:
    """What is set in place of a scenario's values, as the compiled part takes it."""
    settings = [f"{key}={_value(key, value)}" for key, value in (set or {}).items()]
    return {"policy": policy, "seed": seed, "set": settings, "force": bool(force)}


def _value(key: str, value: Any) -> str:
    """A value as ``--set`` takes it."""
    if isinstance(value, (bool, int, float, str)):
        return value if isinstance(value, str) else json.dumps(value)
    raise ArgumentError(f"set: {key} = {value!r}: expected a str, int, float or bool")


def _warn(notes: Sequence[str]) -> None:
    for note in notes:
        # The caller of the command.
        warnings.warn(note, EvenkeelWarning, stacklevel=3)


def run(
    scenario: ScenarioLike,
    *,
    policy: Optional[PolicyLike] = None,
    seed: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    threads: Optional[int] = None,
    force: bool = False,
    out: Optional[Path] = None,
    repeat: bool = True,
    trace: Optional[Path] = None,
    check: bool = False,
    progress: ProgressLike = None,
    name: Optional[str] = None,
) -> Run:
    """Simulates a scenario once: ``evenkeel run``.

    scenario: a path, TOML text, a dict or an `evenkeel.Scenario`.
    policy: a policy in place of the scenario's: its name, or a class of a policy in Python.
    seed: draws random numbers from this seed in place of the scenario's.
    set: other keys, such as {"topology.leaves": 8, "failure[0].at": "10us"}.
    force: makes also a run that is not expected to fit into memory.
    threads: simulates the run on this many threads; the results do not depend on it.
    out: keeps the results in this folder too.
    repeat: a run with a policy in Python is made twice, and compared call by call; False makes it
        once. Without a policy in Python a run is made once.
    trace: writes a time-line for ui.perfetto.dev to this file.
    check: checks the run against a second account of every packet, see `Run.violations`; makes
        the run several times slower.
    progress: a callable that gets `evenkeel.Progress`, True for a bar, False for none.
    name: the name of a scenario that is no file.

    A run that stalls or reaches its time limit is no exception: see `Run.completed`. Ctrl-C ends
    it with KeyboardInterrupt. The interpreter is free for other threads meanwhile.
    """
    source = _source(scenario, name)
    if threads is not None and not 1 <= threads <= 256:
        raise ArgumentError(f"threads = {threads}: expected a number from 1 to 256")
    custom = None
    if policy is not None and not isinstance(policy, str):
        policy, custom = custom_of(policy)
    loaded = _evenkeel.Loaded(source, _overrides(policy, seed, set, force))
    _warn(loaded.warnings)
    with Listener(progress) as listener:
        if not loaded.has_rails:
            request = {
                "policy": custom,
                "threads": threads,
                "repeat": repeat,
                "trace": None if trace is None else os.fspath(trace),
                "check": check,
            }
            native = loaded.run(request, listener)
        elif trace is not None or check:
            option = "check" if trace is None else "trace"
            raise ArgumentError(
                f"{option}: a scenario with [[rail]] sections has no packets of one fabric; omit it"
            )
        elif custom is not None:
            raise ArgumentError(
                "policy: a scenario with [[rail]] sections has an allocator, which cannot be "
                "written in Python; expected its name"
            )
        else:
            native = loaded.run_rails(listener)
    result = Run(native, loaded.warnings if loaded.has_rails else ())
    _warn([note for note in native.warnings if note not in loaded.warnings])
    if out is not None:
        result.save(out)
    return result


def compare(
    scenario: ScenarioLike,
    policies: Sequence[PolicyLike],
    *,
    seeds: Optional[int] = None,
    seed: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    force: bool = False,
    jobs: Optional[int] = None,
    baseline: Optional[str] = None,
    progress: ProgressLike = None,
    name: Optional[str] = None,
) -> Comparison:
    """Simulates a scenario under several policies and seeds: ``evenkeel compare``.

    policies: names of policies, and classes of policies in Python.
    seeds: runs each policy under so many consecutive seeds, from `seed` or the scenario's; by
        default 5, or 1 if nothing is drawn at random.
    jobs: simulates so many runs at the same time; one for each core by default.
    baseline: the policy that ratios are to; the best by default.
    """
    if isinstance(policies, str):
        raise ArgumentError(f"policies = {policies!r}: expected a list of policies")
    asked: List[Dict[str, Any]] = []
    names: List[str] = []
    for policy in policies:
        like, custom = (policy, None) if isinstance(policy, str) else custom_of(policy)
        asked.append({"name": like, "custom": custom})
        names.append(like if custom is None else custom["name"])
    repeated = [it for index, it in enumerate(names) if it in names[:index]]
    if repeated or not names:
        what = f"'{repeated[0]}' is repeated; expected each policy once" if repeated else "none"
        raise ArgumentError(f"policies: {what}")
    if baseline is not None and baseline not in names:
        known = ", ".join(names)
        raise ArgumentError(f"baseline = '{baseline}' is not compared; expected one of {known}")
    request = {
        "source": _source(scenario, name),
        "policies": asked,
        "seeds": None if seeds is None else _count("seeds", seeds),
        "overrides": _overrides(None, seed, set, force),
        "jobs": None if jobs is None else _count("jobs", jobs),
        "baseline": baseline,
    }
    with Listener(progress) as listener:
        result = Comparison(_evenkeel.compare(request, listener))
    _warn(result.notes)
    return result


def sweep(
    study: Union[str, "os.PathLike[str]", Mapping[str, Any]],
    *,
    out: Optional[Path] = None,
    jobs: Optional[int] = None,
    progress: ProgressLike = None,
    name: Optional[str] = None,
) -> Sweep:
    """Simulates every point of a study on all cores: ``evenkeel sweep``.

    study: a path, TOML text or a dict; docs/sweeps.md has the format.
    out: keeps the results in this folder, or goes on with those that it has after an interruption.
    jobs: simulates so many runs at the same time; one for each core by default.

    An invalid point, or a run that does not complete, is a row with its ``error``.
    """
    source = source_of(study, name, "study")
    temporary = None
    if out is None:
        temporary = tempfile.TemporaryDirectory(prefix="evenkeel-")
        out = os.path.join(temporary.name, "sweep")
    folder = os.fspath(out)
    request = {**source, "out": folder, "jobs": None if jobs is None else _count("jobs", jobs)}
    with Listener(progress) as listener:
        return Sweep(_evenkeel.sweep(request, listener), temporary)


def hpcc(
    config: Path,
    *,
    lb: Optional[str] = None,
    topology: Optional[Path] = None,
    flows: Optional[Path] = None,
    seed: Optional[int] = None,
    truncate_ns: bool = False,
    out: Optional[Path] = None,
    progress: ProgressLike = None,
) -> Run:
    """Runs an experiment of the HPCC family of ns-3 simulators: ``evenkeel hpcc``.

    config: the path of its configuration, or the text of one (lines of a key and a value), or a
        dict of them; paths in a text or a dict are relative to the working folder.
    lb, topology, flows, seed: in place of those of the configuration.
    truncate_ns: truncates transmission times to whole nanoseconds, as the family does.
    out: keeps the results in this folder too, with the files that the configuration asks for.
    """
    request = {
        "lb": lb,
        "topology": None if topology is None else os.fspath(topology),
        "flows": None if flows is None else os.fspath(flows),
        "seed": seed,
        "truncate_ns": truncate_ns,
        "out": None if out is None else os.fspath(out),
    }
    with tempfile.TemporaryDirectory(prefix="evenkeel-") as folder:
        request["config"] = _config(config, folder)
        with Listener(progress) as listener:
            native = _evenkeel.hpcc(request, listener)
    _warn(native.warnings)
    return Run(native)


def _config(config: Any, folder: str) -> str:
    """The path of a configuration; that of a text or a table is a file in `folder`."""
    if isinstance(config, Mapping):
        config = "".join(f"{key} {_words(value)}\n" for key, value in config.items())
    elif not isinstance(config, (str, os.PathLike)):
        kind = type(config).__name__
        raise ArgumentError(f"{kind}: expected a path, the text of a configuration or a dict")
    elif isinstance(config, os.PathLike) or "\n" not in config:
        return os.fspath(config)
    path = os.path.join(folder, "config.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(config)
    return path


def _words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def check(
    scenario: ScenarioLike,
    *,
    seed: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    force: bool = False,
    name: Optional[str] = None,
) -> Check:
    """Checks a scenario without running it: ``evenkeel check``. What is invalid is an exception."""
    loaded = _evenkeel.Loaded(_source(scenario, name), _overrides(None, seed, set, force))
    _warn(loaded.warnings)
    return Check(loaded)


def bound(
    scenario: ScenarioLike,
    *,
    seed: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    force: bool = False,
    name: Optional[str] = None,
) -> Bound:
    """The lower bound of a scenario's completion time: ``evenkeel bound``."""
    loaded = _evenkeel.Loaded(_source(scenario, name), _overrides(None, seed, set, force))
    _warn(loaded.warnings)
    values, by = loaded.bound()
    return Bound(json.loads(values), by)


def qps(
    scenario: ScenarioLike,
    *,
    policy: Optional[str] = None,
    seed: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    force: bool = False,
    progress: ProgressLike = None,
    name: Optional[str] = None,
) -> Qps:
    """Counts the queue pairs that a scenario opens: ``evenkeel qps``."""
    loaded = _evenkeel.Loaded(_source(scenario, name), _overrides(policy, seed, set, force))
    _warn(loaded.warnings)
    with Listener(progress) as listener:
        return Qps(json.loads(loaded.qps(listener)))


def _count(what: str, number: int) -> int:
    if not isinstance(number, int) or number < 1:
        raise ArgumentError(f"{what} = {number!r}: expected a whole number of at least 1")
    return number
