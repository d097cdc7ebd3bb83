"""The commands of the command line as functions, with the same messages."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import warnings
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from . import _evenkeel
from ._arguments import documented
from ._errors import ArgumentError, EvenkeelWarning, Interrupted
from ._policies import PolicyLike, Requested, requested
from ._progress import Listener, ProgressLike
from ._results import Bound, Check, Comparison, Qps, Run, Sweep, run_of
from ._scenario import Scenario
from ._section import Section
from ._source import ScenarioLike, source_of
from ._stored import NativeRun
from ._values import Path, flag, inline, optional_text, path, plain, text, whole

__all__ = ["bound", "check", "compare", "hpcc", "points", "qps", "run", "sweep"]


def _source(scenario: ScenarioLike, name: Optional[str]) -> Dict[str, Any]:
    default = scenario.name if isinstance(scenario, Scenario) else "scenario"
    return source_of(scenario, name, default)


def _overrides(
    policy: Optional[str],
    seed: Optional[int],
    set: Optional[Mapping[str, Any]],
    force: bool,
    parameters: str = "",
) -> Dict[str, Any]:
    """Returns overrides of a scenario's values in the form that the compiled part expects."""
    return {
        "policy": policy,
        "parameters": parameters,
        "seed": None if seed is None else whole("seed", seed, 0),
        "set": overrides_of(set),
        "force": flag("force", force),
    }


def overrides_of(set: Optional[Mapping[str, Any]]) -> List[str]:
    """Returns keys and values in the form of ``--set``."""
    if set is not None and not isinstance(set, Mapping):
        raise ArgumentError(f"set = {set!r}: expected a dict from keys to values")
    return [f"{text('set', key)}={_value(key, it)}" for key, it in (set or {}).items()]


def loaded(
    scenario: ScenarioLike,
    name: Optional[str],
    *,
    seed: Optional[int],
    set: Optional[Mapping[str, Any]],
    force: bool,
) -> _evenkeel.Loaded:
    """Reads a scenario with overrides."""
    return _evenkeel.Loaded(_source(scenario, name), _overrides(None, seed, set, force))


def _value(key: str, value: Any) -> str:
    """Formats a value as ``--set`` expects it."""
    converted = plain(value, f"set: {key}")
    return converted if isinstance(converted, str) else inline(converted)


def _warn(notes: Sequence[str]) -> None:
    for note in notes:
        # Level 3 is the caller of the command.
        warnings.warn(note, EvenkeelWarning, stacklevel=3)


@documented
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

    policy: overrides the scenario's policy by a name, a policy with parameters such as
        Policy("reps", buffer=16), or a policy class in Python.
    threads: simulates the run on this many threads; the results do not depend on it.
    out: also saves the results in this folder.
    repeat: repeats a run with a policy in Python and compares the two call by call; False runs it
        once. Without a policy in Python there is always one run.
    trace: writes a timeline for ui.perfetto.dev to this file.
    check: checks the run with an independent account of every packet, see `Run.violations`. Makes
        the run several times slower.

    A run that stalls or reaches its time limit raises no exception: see `Run.completed`. Ctrl-C
    ends it with KeyboardInterrupt. Other threads can use the interpreter meanwhile.

    Example: evenkeel.run("examples/incast-32.toml", policy="spray", seed=3).fct_ns.p99
    """
    source = _source(scenario, name)
    asked = None if policy is None else requested(policy)
    name_of_policy, parameters = (asked.name, asked.parameters) if asked else (None, "")
    custom = asked.custom if asked else None
    request = {
        "policy": custom,
        "threads": None if threads is None else whole("threads", threads, 1, 256),
        "repeat": flag("repeat", repeat),
        "trace": path("trace", trace),
        "check": flag("check", check),
    }
    out = path("out", out)
    overrides = _overrides(name_of_policy, seed, set, force, parameters)
    scene = _evenkeel.Loaded(source, overrides)
    _warn(scene.warnings)
    with Listener(progress) as listener:
        if not scene.has_rails:
            native: NativeRun = scene.run(request, listener)
        elif trace is not None or request["check"]:
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
            native = scene.run_rails(listener)
    result = run_of(native, scene.warnings if scene.has_rails else ())
    _warn([note for note in native.warnings if note not in scene.warnings])
    if out is not None:
        result.save(out)
    return result


@documented
def compare(
    scenario: ScenarioLike,
    policies: Policies,
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

    policies: names of policies, policies with parameters such as Policy("reps", buffer=16), and
        policy classes in Python. Parameters are part of the name in the results; a dict gives
        other names: {"large": Policy("reps", buffer=16)}.
    seeds: number of consecutive seeds for each policy, from `seed` or the scenario's on. By
        default 5, or 1 if nothing is random.
    baseline: the policy that ratios refer to; the best one by default.

    Ctrl-C ends it with `Interrupted`, whose ``finished`` is the comparison of the finished runs.

    Example: print(evenkeel.compare("examples/incast-32.toml", ["ecmp", "spray"], seeds=10))
    """
    asked = _compared(policies)
    if baseline is not None and baseline not in asked:
        known = ", ".join(asked)
        raise ArgumentError(f"baseline = {baseline!r} is not compared; expected one of {known}")
    request = {
        "source": _source(scenario, name),
        "policies": [it.request(label) for label, it in asked.items()],
        "seeds": None if seeds is None else whole("seeds", seeds),
        "overrides": _overrides(None, seed, set, force),
        "jobs": None if jobs is None else whole("jobs", jobs),
        "baseline": baseline,
    }
    with Listener(progress) as listener, _keeping(Comparison):
        result = Comparison(_evenkeel.compare(request, listener))
    _warn(result.notes)
    return result


#: Policies of a comparison; a dict gives their names in the results.
Policies = Union[Sequence[PolicyLike], Mapping[str, PolicyLike]]


def _compared(policies: Policies) -> Dict[str, Requested]:
    """Returns the policies of a comparison by their labels."""
    if isinstance(policies, Mapping) and not isinstance(policies, Section):
        named = {label: requested(it, f"policies[{label!r}]") for label, it in policies.items()}
        wrong = [label for label in named if not isinstance(label, str) or not label.strip()]
        if wrong:
            raise ArgumentError(f"policies: {wrong[0]!r}: expected a name as the label")
    elif isinstance(policies, (str, Section)) or not isinstance(policies, Iterable):
        raise ArgumentError(f"policies = {policies!r}: expected a list of policies")
    else:
        named = {}
        for index, policy in enumerate(policies):
            one = requested(policy, f"policies[{index}]")
            if one.label in named:
                raise ArgumentError(
                    f"policies: '{one.label}' is repeated; expected each policy once, or a dict "
                    "from labels to policies"
                )
            named[one.label] = one
    if not named:
        raise ArgumentError("policies: none; expected a list of policies")
    return named


@contextlib.contextmanager
def _keeping(kind: Callable[[Dict[str, Any]], Union[Comparison, Sweep]]) -> Iterator[None]:
    """Adds the results of the finished runs to the exception that ends a command."""
    try:
        yield
    except BaseException as error:
        found = getattr(error, "finished", None)
        finished = kind(found) if isinstance(found, dict) else None
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(finished) from None
        if finished is not None:
            error.finished = finished  # type: ignore[attr-defined]
        raise


#: A study: a path, TOML text or a dict.
StudyLike = Union[str, "os.PathLike[str]", Mapping[str, Any]]


@documented
def points(study: StudyLike, *, name: Optional[str] = None) -> List[Dict[str, Any]]:
    """Lists the points of a study, each with its number, keys and seeds: ``evenkeel sweep --list``.

    study: as for `sweep`.

    Example: [evenkeel.sweep(study, point=it["point"]) for it in evenkeel.points(study)]
    """
    found: List[Dict[str, Any]] = json.loads(_evenkeel.points(source_of(study, name, "study")))
    return found


@documented
def sweep(
    study: StudyLike,
    *,
    point: Optional[int] = None,
    out: Optional[Path] = None,
    jobs: Optional[int] = None,
    progress: ProgressLike = None,
    name: Optional[str] = None,
) -> Sweep:
    """Simulates every point of a study on all cores: ``evenkeel sweep``.

    study: a path, TOML text or a dict; docs/sweeps.md describes the format.
    point: simulates only this point, all its seeds. Points are numbered from 1.
    out: saves the results in this folder, and resumes an interrupted sweep there.

    A failing point does not stop the sweep. Its row has the reason in ``error``. Ctrl-C ends it
    with `Interrupted`, whose ``finished`` is the sweep of the finished runs.

    Example: evenkeel.sweep("examples/sweeps/load.toml", out="results").table
    """
    source = source_of(study, name, "study")
    temporary = None
    folder = path("out", out)
    if folder is None:
        temporary = tempfile.TemporaryDirectory(prefix="evenkeel-")
        folder = os.path.join(temporary.name, "sweep")
    request = {
        "study": source,
        "point": None if point is None else whole("point", point),
        "out": folder,
        "jobs": None if jobs is None else whole("jobs", jobs),
    }
    with Listener(progress) as listener, _keeping(lambda found: Sweep(found, temporary)):
        return Sweep(_evenkeel.sweep(request, listener), temporary)


@documented
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

    Example: evenkeel.hpcc("config.txt", lb="spray", seed=3).cct_ns
    """
    request = {
        "lb": optional_text("lb", lb),
        "topology": path("topology", topology),
        "flows": path("flows", flows),
        "seed": None if seed is None else whole("seed", seed, 0),
        "truncate_ns": flag("truncate_ns", truncate_ns),
        "out": path("out", out),
    }
    with tempfile.TemporaryDirectory(prefix="evenkeel-") as folder:
        request["config"] = _config(config, folder)
        with Listener(progress) as listener:
            native = _evenkeel.hpcc(request, listener)
    _warn(native.warnings)
    return run_of(native)


def _config(config: Any, folder: str) -> str:
    """Returns the path of a configuration; writes a text or a table to a file in `folder`."""
    if isinstance(config, Mapping):
        config = "".join(f"{key} {_words(value)}\n" for key, value in config.items())
    elif not isinstance(config, (str, os.PathLike)):
        kind = type(config).__name__
        forms = "a path, the text of a configuration or a dict"
        raise ArgumentError(f"config = {config!r}: expected {forms}, not {kind}")
    elif isinstance(config, os.PathLike) or "\n" not in config:
        return os.fspath(config)
    path = os.path.join(folder, "config.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(config)
    return path


def _words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


@documented
def check(
    scenario: ScenarioLike,
    *,
    seed: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    force: bool = False,
    name: Optional[str] = None,
) -> Check:
    """Checks a scenario without running it: ``evenkeel check``. Raises an exception if invalid.

    Example: print(evenkeel.check("examples/incast-32.toml").scenario_toml)
    """
    scene = loaded(scenario, name, seed=seed, set=set, force=force)
    _warn(scene.warnings)
    return Check(scene)


@documented
def bound(
    scenario: ScenarioLike,
    *,
    seed: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    force: bool = False,
    name: Optional[str] = None,
) -> Bound:
    """Computes a lower bound of a scenario's completion time: ``evenkeel bound``.

    Example: evenkeel.bound("examples/incast-32.toml").bound_ns
    """
    scene = loaded(scenario, name, seed=seed, set=set, force=force)
    _warn(scene.warnings)
    values, by = scene.bound()
    return Bound(json.loads(values), by)


@documented
def qps(
    scenario: ScenarioLike,
    *,
    policy: Union[str, Mapping[str, Any], None] = None,
    seed: Optional[int] = None,
    set: Optional[Mapping[str, Any]] = None,
    force: bool = False,
    progress: ProgressLike = None,
    name: Optional[str] = None,
) -> Qps:
    """Counts the queue pairs that a scenario opens: ``evenkeel qps``.

    policy: overrides the scenario's policy by a name or a policy with parameters.

    Example: evenkeel.qps("examples/incast-32.toml", policy="subflow-8").qps.per_nic_max
    """
    asked = None if policy is None else requested(policy)
    if asked is not None and asked.custom is not None:
        raise ArgumentError(f"policy = {policy!r}: expected a name or evenkeel.Policy")
    name_of_policy, parameters = (asked.name, asked.parameters) if asked else (None, "")
    overrides = _overrides(name_of_policy, seed, set, force, parameters)
    scene = _evenkeel.Loaded(_source(scenario, name), overrides)
    _warn(scene.warnings)
    with Listener(progress) as listener:
        return Qps(json.loads(scene.qps(listener)))
