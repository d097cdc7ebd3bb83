"""The commands of the command line as functions, with the same messages."""

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
    """Returns overrides of a scenario's values in the form that the compiled part expects."""
    settings = [f"{key}={_value(key, value)}" for key, value in (set or {}).items()]
    return {"policy": policy, "seed": seed, "set": settings, "force": bool(force)}


def _value(key: str, value: Any) -> str:
    """Formats a value as ``--set`` expects it."""
    if isinstance(value, (bool, int, float, str)):
        return value if isinstance(value, str) else json.dumps(value)
    raise ArgumentError(f"set: {key} = {value!r}: expected a str, int, float or bool")


def _warn(notes: Sequence[str]) -> None:
    for note in notes:
        # Level 3 is the caller of the command.
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
    policy: overrides the scenario's policy by a name or a policy class in Python.
    seed: overrides the scenario's seed for random numbers.
    set: overrides other keys, such as {"topology.leaves": 8, "failure[0].at": "10us"}.
    force: runs even if the estimated memory exceeds what is available.
    threads: simulates the run on this many threads; the results do not depend on it.
    out: also saves the results in this folder.
    repeat: repeats a run with a policy in Python and compares the two call by call; False runs it
        once. Without a policy in Python there is always one run.
    trace: writes a timeline for ui.perfetto.dev to this file.
    check: checks the run with an independent account of every packet, see `Run.violations`. Makes
        the run several times slower.
    progress: a callable that receives `evenkeel.Progress`, True for a bar, False for none.
    name: the name of a scenario that is not a file.

    A run that stalls or reaches its time limit raises no exception: see `Run.completed`. Ctrl-C
    ends it with KeyboardInterrupt. Other threads can use the interpreter meanwhile.
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
                f"{option}: a scenario with [[rail]] sections does not support it; omit it"
            )
        elif custom is not None:
            raise ArgumentError(
                "policy: a scenario with [[rail]] sections needs the name of an allocator; "
                "allocators cannot be written in Python"
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

    policies: names of policies, and policy classes in Python.
    seeds: number of consecutive seeds for each policy, from `seed` or the scenario's on. By
        default 5, or 1 if nothing is random.
    jobs: number of runs simulated at the same time; one per core by default.
    baseline: the policy that ratios refer to; the best one by default.
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

    study: a path, TOML text or a dict; docs/sweeps.md describes the format.
    out: saves the results in this folder, and resumes an interrupted sweep there.
    jobs: number of runs simulated at the same time; one per core by default.

    A failing point does not stop the sweep. Its row has the reason in ``error``.
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

    config: the path or the text (lines with a key and a value) of its configuration, or a dict.
        Paths in a text or a dict are relative to the working folder.
    lb, topology, flows, seed: override those of the configuration.
    truncate_ns: truncates transmission times to whole nanoseconds, as the family does.
    out: also saves the results in this folder, with the files that the configuration requests.
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
    """Returns the path of a configuration; writes a text or a table to a file in `folder`."""
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
    """Checks a scenario without running it: ``evenkeel check``. Raises an exception if invalid."""
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
    """Computes a lower bound of a scenario's completion time: ``evenkeel bound``."""
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
