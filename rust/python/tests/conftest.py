"""Fixtures and helpers that the tests share."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"

#: Costs of a run, which depend on the machine.
COSTS = ("wall_s", "peak_rss_bytes")



#: A fabric of 8 hosts whose run takes some milliseconds.
SMALL = """
[topology]
leaves = 2
spines = 2
hosts_per_leaf = 4

[policy]
name = "spray"

[workload]
kind = "all-to-all"
bytes = "256KB"
"""


@pytest.fixture(scope="session")
def command_line():
    """Runs the program named by EVENKEEL, or builds it."""
    program = os.environ.get("EVENKEEL")
    if program is None:
        if shutil.which("cargo") is None:
            pytest.skip("the command line: cargo is not installed, and EVENKEEL names no program")
        subprocess.run(["cargo", "build", "--locked", "--bin", "evenkeel"], cwd=ROOT, check=True)
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        program = str(target / "debug" / "evenkeel")

    def run(*arguments: str) -> str:
        words = [program, *map(str, arguments)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 2:
            raise ValueError(done.stderr)
        return done.stdout

    return run


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch):
    """Paths in messages are the same as on the command line."""
    monkeypatch.chdir(ROOT)


def without_costs(text: str) -> str:
    """Returns the bytes of a summary without the costs of its run; the order is kept."""
    return json.dumps(_without_costs(json.loads(text)))


def _without_costs(value):
    if isinstance(value, dict):
        return {key: _without_costs(it) for key, it in value.items() if key not in COSTS}
    return [_without_costs(it) for it in value] if isinstance(value, list) else value
