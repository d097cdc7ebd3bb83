"""Compares the cost of a run in Python with the same run on the command line.

    python rust/python/tests/cost.py target/release/evenkeel --pairs 30 --instructions

Both are release builds: `cargo build --release` and `pip install .`. Two measures, of one run of
two lengths, so that what a start costs and what goes on for as long as a run can be told apart:

- pairs: the CPU time of both programs in turn, the order changing from pair to pair, and the median
  ratio with an interval that needs no distribution (order statistics);
- instructions (needs valgrind): counted, not timed, so that a busy machine does not matter. Python
  looks at signals by the clock, which valgrind slows down: it counts more of that than there is.

It prints Markdown.
"""

from __future__ import annotations

import argparse
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from typing import Dict, List, Tuple

import evenkeel

SCENARIO = """
[topology]
kind = "fat-tree"
k = 16

[policy]
name = "spray"

[transport]
congestion_control = "line-rate"

[workload]
kind = "permutation"
bytes = "{bytes}"
"""

IN_PYTHON = (
    "import sys, evenkeel; print(evenkeel.run(sys.argv[1], threads=1, progress=False).json())"
)

#: Coverage of the confidence intervals.
COVERAGE = 0.95


def commands(program: str, scenario: pathlib.Path) -> Dict[str, List[str]]:
    """Returns the commands of the same run for both programs."""
    return {
        "command line": [program, "run", str(scenario), "--threads", "1", "--json"],
        "Python": [sys.executable, "-c", IN_PYTHON, str(scenario)],
    }


def cpu_seconds(command: List[str]) -> float:
    """Returns the user and system time of a process with all its threads."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.WEXITSTATUS(status)
    if status != 0:
        raise RuntimeError(f"{command} failed with status {status}")
    return usage.ru_utime + usage.ru_stime


def instructions(command: List[str]) -> int:
    """Returns the number of instructions that a process executes, counted by valgrind."""
    words = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(words + command, check=True, capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if found is None:
        raise RuntimeError(f"valgrind counted nothing: {done.stderr}")
    return int(found.group(1).replace(",", ""))


def results(command: List[str]) -> Tuple[float, int]:
    """Returns the completion time and the packet hops of a run."""
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = [re.search(rf'"{key}":\s*([\d.]+)', text) for key in ("cct_ns", "packet_hops")]
    if None in found:
        raise RuntimeError(f"{command} printed no results: {text[:200]}")
    time, hops = (it.group(1) for it in found if it is not None)
    return float(time), int(hops)


def interval(values: List[float]) -> Tuple[float, float]:
    """Returns an interval of order statistics that covers the median with at least `COVERAGE`."""
    count, ordered = len(values), sorted(values)
    outside, below = 0.0, 0
    while below < count // 2:
        outside += 2 * math.comb(count, below) / 2**count
        if outside > 1 - COVERAGE:
            break
        below += 1
    below = max(below, 1)
    return ordered[below - 1], ordered[count - below]


def paired(both: Dict[str, List[str]], pairs: int) -> Dict[str, List[float]]:
    """Measures CPU seconds of both programs in pairs, alternating which one goes first."""
    taken: Dict[str, List[float]] = {name: [] for name in both}
    for pair in range(pairs):
        for name in sorted(both, reverse=pair % 2 == 1):
            taken[name].append(cpu_seconds(both[name]))
    return taken


def print_pairs(lengths: List[Tuple[str, int, Dict[str, List[float]]]]) -> None:
    print("| bytes | packet-hops | pairs | command line | Python | ratio | 95 % interval |")
    print("|---|---|---|---|---|---|---|")
    for size, hops, taken in lengths:
        ratios = [own / other for own, other in zip(taken["Python"], taken["command line"])]
        low, high = interval(ratios)
        middle = [statistics.median(taken[name]) for name in ("command line", "Python")]
        print(
            f"| {size} | {hops:,} | {len(ratios)} | {middle[0]:.3f} s | {middle[1]:.3f} s "
            f"| {statistics.median(ratios):.4f} | {low:.4f} to {high:.4f} |"
        )


def print_instructions(counted: List[Tuple[str, Dict[str, int]]]) -> None:
    print("| bytes | command line | Python | difference | ratio |")
    print("|---|---|---|---|---|")
    for size, both in counted:
        own, other = both["Python"], both["command line"]
        print(f"| {size} | {other:,} | {own:,} | {own - other:,} | {own / other:.4f} |")


def print_ten_seconds(counted: List[Tuple[str, Dict[str, int]]], per_second: float) -> None:
    """Estimates the cost of a ten-second run: a fixed start, and a part that grows with it."""
    (_, short), (_, long) = counted[0], counted[-1]
    more = {name: long[name] - short[name] for name in long}
    growth = more["Python"] / more["command line"]
    once = short["Python"] - growth * short["command line"]
    ten = 10 * per_second
    print(
        f"From the shorter to the longer run Python executes {100 * (growth - 1):+.3f} % more than "
        f"the command line, and {once / 1e6:,.0f} million instructions once. A run of ten seconds "
        f"({ten / 1e9:,.1f} thousand million instructions here) costs "
        f"{100 * (growth - 1 + once / ten):.2f} % more."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="what a run costs in Python")
    parser.add_argument("program", help="evenkeel, a release build")
    parser.add_argument("--pairs", type=int, default=30, help="pairs of runs of each length")
    parser.add_argument("--bytes", nargs=2, default=["1MB", "3MB"], help="the two lengths")
    parser.add_argument("--instructions", action="store_true", help="count them with valgrind too")
    arguments = parser.parse_args()
    if arguments.pairs < 6:
        parser.error(f"--pairs {arguments.pairs}: fewer than 6 have no interval of 95 %")
    timed, counted = [], []
    with tempfile.TemporaryDirectory() as folder:
        for size in arguments.bytes:
            scenario = pathlib.Path(folder) / f"{size}.toml"
            scenario.write_text(SCENARIO.format(bytes=size), encoding="utf-8")
            both = commands(arguments.program, scenario)
            same = {results(command) for command in both.values()}
            if len(same) != 1:
                raise RuntimeError(f"the results differ: {same}")
            hops = same.pop()[1]
            timed.append((size, hops, paired(both, arguments.pairs)))
            if arguments.instructions:
                counted.append((size, {name: instructions(it) for name, it in both.items()}))
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"evenkeel {evenkeel.__version__}, Python {version}, CPU time and instructions:\n")
    print_pairs(timed)
    if counted:
        print()
        print_instructions(counted)
        seconds = statistics.median(timed[-1][2]["command line"])
        print()
        print_ten_seconds(counted, counted[-1][1]["command line"] / seconds)


if __name__ == "__main__":
    main()
