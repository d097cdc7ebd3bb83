#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes the tables of docs/reproduce/forks.txt: runs a fork of ns-3 under several policies and
prints, for each, the first, the mean and the last completion time of its flows.

    cpp-bridge/fork-table.py --fct mix/output/1/1_out_fct.txt -- COMMAND...

COMMAND is what runs the fork's own script with its own files, such as the program that waf built
and a configuration; FILE is the file of completion times that it writes. The fork has the lines of
README.md. With `--reference FILE`, the file that the fork writes without these lines, the run
without a policy must write the same bytes. With `--timeout SECONDS` a run that takes longer is ended
and counts as failed: the NICs of some forks never complete a flow whose packets are reordered.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys

POLICIES = "ecmp,flowlet,spray,drill"
# The columns of the family: source, destination, two ports, bytes, start, completion time, ...
FCT_COLUMN = 6
# Nanoseconds, or Floodgate's microseconds with a decimal point.
TIME = re.compile(r"\d+(\.\d+)?")


def completion_times(path):
    """The completion times of a file, in nanoseconds."""
    times = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split()
        # Floodgate also writes each flow's completion at the receiver.
        if not words or words[0] == "rcv":
            continue
        if len(words) <= FCT_COLUMN or not TIME.fullmatch(words[FCT_COLUMN]):
            sys.exit(
                f"error: {path}, line {number}: '{line}' has no completion time in column "
                f"{FCT_COLUMN + 1}; the file must be the fork's fct.txt"
            )
        time = words[FCT_COLUMN]
        times.append(round(float(time) * 1000) if "." in time else int(time))
    return times


def run(command, fct, policy, timeout):
    """Runs the fork under a policy ("" for its own); returns the reason if it fails."""
    environment = {key: value for key, value in os.environ.items() if key != "EVENKEEL_POLICY"}
    if policy:
        environment["EVENKEEL_POLICY"] = policy
    # Results of an earlier run must not pass for those of this one.
    fct.unlink(missing_ok=True)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # A session of its own: what the command has started is ended with it.
    with subprocess.Popen(command, env=environment, start_new_session=True, **pipes) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            flows = len(completion_times(fct)) if fct.is_file() else 0
            return f"ended after {timeout:g} s, with {flows} flows completed"
    if process.returncode != 0:
        lines = (errors.strip() or output.strip()).splitlines()
        return lines[-1] if lines else f"status {process.returncode}"
    return None if fct.is_file() else f"{fct} was not written"


def row(name, cells):
    """A row of the table."""
    return f"| {name} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fct", type=pathlib.Path, required=True, metavar="FILE")
    parser.add_argument("--policies", default=POLICIES, metavar="NAMES")
    parser.add_argument("--reference", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="of each run")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    given = parser.parse_args()
    reference = given.reference.read_bytes() if given.reference else None
    print(row("`EVENKEEL_POLICY`", ["flows", "first", "mean", "last"]))
    print(row("---", ["---"] * 4))
    failed = False
    for policy in ["", *filter(None, given.policies.split(","))]:
        name = f"`{policy}`" if policy else "not set (the fork's own)"
        reason = run(given.command, given.fct, policy, given.timeout)
        if reason is None and not policy and reference not in (None, given.fct.read_bytes()):
            reason = f"{given.fct} differs from {given.reference}"
        if reason is not None:
            failed = True
            print(row(name, [f"failed: {reason}", "", "", ""]))
            continue
        times = completion_times(given.fct)
        if not times:
            sys.exit(f"error: {given.fct} has no flow")
        mean = round(sum(times) / len(times))
        print(row(name, [str(len(times)), *(f"{ns:,} ns" for ns in (min(times), mean, max(times)))]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
