"""Ctrl-C keeps the finished runs of comparisons and sweeps."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pytest
from conftest import SMALL

import evenkeel

#: The second policy takes much longer than the time until the interrupt.
COMPARISON = """
class Slow(evenkeel.SenderPolicy):
    def entropy(self, now_ps):
        time.sleep(0.01)
        return 1

def command(progress):
    evenkeel.compare(SMALL, ["ecmp", Slow], seeds=2, jobs=1, progress=progress)
"""

SWEEP = """
study = {
    "scenario": {"topology": {"leaves": 2, "spines": 2, "hosts_per_leaf": 4}},
    "run": [{"name": "sizes", "over": {"workload.bytes": ["64KB", "128KB", "8GB"]}}],
}

def command(progress):
    evenkeel.sweep(study, out=OUT, jobs=1, progress=progress)
"""

#: Sends SIGINT to itself when two runs have finished.
SCRIPT = """
import json, os, pickle, signal, sys, time
import evenkeel
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt(progress):
    if progress.runs_finished == 2:
        os.kill(os.getpid(), signal.SIGINT)

try:
    command(interrupt)
except KeyboardInterrupt as error:
    assert isinstance(error, evenkeel.Interrupted)
    sys.stdout.buffer.write(pickle.dumps((error.finished, str(error))))
"""


def interrupted(command, out=None):
    script = f"SMALL, OUT = {SMALL!r}, {out and str(out)!r}\n" + SCRIPT.replace(
        "\ndef interrupt", f"\n{command}\ndef interrupt"
    )
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, check=True, timeout=120)
    assert done.stderr == b""
    return pickle.loads(done.stdout)


def test_an_interrupted_comparison_has_the_finished_runs(tmp_path):
    finished, text = interrupted(COMPARISON)
    assert text == "2 runs finished"
    assert [(it.policy, it.seed) for it in finished.runs] == [("ecmp", 1), ("ecmp", 2)]
    whole = evenkeel.compare(SMALL, ["ecmp"], seeds=2)
    assert [it.cct_ns for it in finished.runs] == [it.cct_ns for it in whole.runs]
    assert not finished.completed and finished.missing == 2
    missing = json.loads(finished.json())["interrupted"]["policies"]
    assert [it["policy"] for it in missing] == ["Slow"]
    assert "Slow" in str(finished) and "ecmp" in finished.statistics["policy"]
    finished.save(tmp_path / "comparison.csv")
    assert finished.plot()


@pytest.mark.parametrize("kept", [False, True])
def test_an_interrupted_sweep_has_the_finished_rows_and_resumes(kept, tmp_path):
    folder = tmp_path / "sweep" if kept else None
    finished, text = interrupted(SWEEP, folder)
    assert text == "2 runs finished" and len(finished) == 2 and finished.errors == []
    assert finished.table["workload.bytes"] == ["64KB", "128KB"]
    assert all(run.cct_ns > 0 for run in finished.runs)
    assert finished.plot() and "2 runs" in finished._repr_html_()
    if kept:
        assert finished.folder == str(folder)
        assert (folder / "sweep.runs.jsonl").read_text().count("\n") == 2


def test_an_interrupted_sweep_has_no_rows_of_another_scenario(tmp_path):
    class Enough(Exception):
        pass

    def enough(progress):
        if progress.runs_finished:
            raise Enough

    def study(size):
        workload = {"kind": "all-to-all", "bytes": size}
        topology = {"leaves": 2, "spines": 2, "hosts_per_leaf": 4}
        policies = {"policy": ["ecmp", "spray", "reps", "drill"]}
        scenario = {"topology": topology, "workload": workload}
        return {"scenario": scenario, "run": [{"name": "policies", "over": policies}]}

    folder = tmp_path / "sweep"
    before = evenkeel.sweep(study("64KB"), out=folder)
    # The names of the runs are the same, but their scenarios are not.
    with pytest.raises(Enough) as raised:
        evenkeel.sweep(study("256MB"), out=folder, jobs=1, progress=enough)
    finished = raised.value.finished
    assert 0 < len(finished) < 4 and not (folder / "results.csv").exists()
    longest = max(run.cct_ns for run in before.runs)
    assert all(run.cct_ns > longest for run in finished.runs)
    # The folder has the results of another start, so both are drawn from their own.
    evenkeel.sweep(study("64KB"), out=folder)
    assert before.plot()[0].svg != finished.plot()[0].svg


def test_without_a_finished_run_there_is_nothing(tmp_path):
    timer = "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()"
    command = COMPARISON.replace('["ecmp", Slow]', "[Slow]") + f"\nimport threading\n{timer}\n"
    assert interrupted(command) == (None, "0 runs finished")


def test_an_exception_of_the_callback_has_the_finished_runs():
    class Enough(Exception):
        pass

    def enough(progress):
        if progress.runs_finished:
            raise Enough

    with pytest.raises(Enough) as raised:
        evenkeel.compare(SMALL.replace("256KB", "8MB"), ["ecmp"], seeds=9, jobs=1, progress=enough)
    assert 0 < len(raised.value.finished) < 9
