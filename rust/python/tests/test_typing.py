"""Type checkers know the attributes of results and the arguments of functions."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys

import pytest
import generate

import evenkeel
from evenkeel import _evenkeel

#: Accepted lines; each of the others has the error that follows it.
GOOD = """
from typing import Dict, List, Optional

import evenkeel
from evenkeel import Failure, Policy, Scenario, Topology, Workload

run = evenkeel.run("a.toml", policy=Policy("reps", buffer=16), set={"topology.leaves": 8})
dropped: int = run.packets.dropped
p99: Optional[float] = run.fct_ns.p99
names: List[str] = [job.name for job in run.jobs]
kinds: List[str] = [failure.kind for failure in run.failures]
qps: int = run.qps.extra_total + run.state.switch_bits_max
relayed: int = 0 if run.scale_up is None else run.scale_up.relayed
rows: Dict[str, List[object]] = run.tables.flows.to_dict()
if isinstance(run, evenkeel.RailRun):
    carried: int = run.rails[0].carried_bytes
comparison = evenkeel.compare("a.toml", ["ecmp", Policy("reps", buffer=16)], seeds=3)
slowdown: Optional[float] = comparison["ecmp"][0].slowdown
text: str = comparison.plot(units="si")["cct"].svg
try:
    evenkeel.sweep({"run": []}, out="out")
except evenkeel.Interrupted as stop:
    finished: int = 0 if stop.finished is None else len(stop.finished)
scenario = Scenario(topology=Topology(leaves=4), workload=Workload(kind="incast"))
scenario.failure.append(Failure(link="leaf0-spine0"))
scenario.topology.leaves = 8
scenario.policy.buffer = 16
text = evenkeel.explain("reps")
names = [row["name"] for row in evenkeel.list("policies")]
"""

BAD = [
    ("run.packets.droped", '"Packets" has no attribute "droped"'),
    ("run.cct_n", '"Run" has no attribute "cct_n"'),
    ("run.fct_ns.p98", '"Fct" has no attribute "p98"'),
    ("run.jobs[0].slowdown", '"JobSummary" has no attribute "slowdown"'),
    ("comparison.runs[0].qps.totl", '"QpCounts" has no attribute "totl"'),
    ("run.rails", '"Run" has no attribute "rails"'),
    ("word: str = run.packets.dropped", "Incompatible types in assignment"),
    ("Topology(leafs=4)", 'Unexpected keyword argument "leafs"'),
    ("scenario.topology.leafs = 4", '"Topology" has no attribute "leafs"'),
    ("scenario.workload.bites", '"Workload" has no attribute "bites"'),
    ('evenkeel.run("a.toml", sed=3)', 'Unexpected keyword argument "sed"'),
]

NEEDS_MYPY = pytest.mark.skipif(
    importlib.util.find_spec("mypy") is None, reason="mypy is not installed"
)


def check_types(tmp_path, text):
    (tmp_path / "user.py").write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", "user.py"]
    return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)


@NEEDS_MYPY
def test_mypy_accepts_valid_attributes_and_rejects_typos(tmp_path):
    good = check_types(tmp_path, GOOD)
    assert good.returncode == 0, good.stdout
    bad = check_types(tmp_path, GOOD + "\n".join(line for line, _ in BAD) + "\n")
    first = GOOD.count("\n") + 1
    lines = re.findall(r"^user\.py:(\d+): error: (.*)$", bad.stdout, re.M)
    found = {int(number) - first: message for number, message in lines}
    assert sorted(found) == list(range(len(BAD))), bad.stdout
    for index, (line, message) in enumerate(BAD):
        assert message in found[index], line


@NEEDS_MYPY
def test_the_package_passes_mypy(tmp_path):
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", "-p", "evenkeel"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_generated_files_are_those_of_the_schemas_and_the_catalogue():
    for file, text in generate.generate().items():
        written = (generate.PACKAGE / file).read_text(encoding="utf-8")
        assert written == text, f"{file}: run rust/python/tests/generate.py"
    for name in ("run", "rails"):
        schema = json.loads(_evenkeel.output_schema(name))
        kind = evenkeel.Summary if name == "run" else evenkeel.RailSummary
        known = {key for it in kind.__mro__ for key in getattr(it, "__annotations__", {})}
        assert set(schema["properties"]) <= known
    with pytest.raises(evenkeel.ArgumentError, match="no output has the name 'x'"):
        _evenkeel.output_schema("x")
