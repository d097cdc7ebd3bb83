"""Progress, interruption, and other threads during a run."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import SMALL

import evenkeel
from evenkeel._progress import Bar, Progress

#: A run that takes some seconds.
LONG = SMALL.replace("256KB", "2GB")

STUDY = {
    "run": [{"name": "long", "seeds": 4}],
    "scenario": {"workload": {"kind": "all-to-all", "bytes": "256MB"}},
}

RAILS = """
[hosts]
count = 16
[workload]
bytes = "16MB"
operations = 2000
[[rail]]
kind = "tcp"
[[rail]]
kind = "rdma"
"""


def test_a_callback_sees_the_run_advance():
    seen = []
    run = evenkeel.run(SMALL.replace("256KB", "16MB"), progress=seen.append)
    assert all(isinstance(it, Progress) for it in seen)
    fractions = [it.fraction for it in seen]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert seen[-1].messages == run.messages
    assert seen[-1].label == "spray, seed 1" and seen[-1].runs == 1


def test_an_exception_of_the_callback_ends_the_run():
    class Enough(Exception):
        pass

    calls = []

    def enough(progress):
        calls.append(progress.fraction)
        raise Enough

    with pytest.raises(Enough):
        evenkeel.run(LONG, progress=enough)
    # A run that went on would call again.
    assert len(calls) == 1 and calls[0] < 1


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_run(threads):
    interrupted(lambda: evenkeel.run(LONG, threads=threads))


def test_ctrl_c_ends_a_comparison_a_sweep_and_rails(tmp_path):
    interrupted(lambda: evenkeel.compare(LONG, ["ecmp", "spray"], jobs=2))
    interrupted(lambda: evenkeel.sweep(STUDY, out=tmp_path / "sweep"))
    interrupted(lambda: evenkeel.run(RAILS))
    interrupted(lambda: evenkeel.run(LONG, policy=Slow, repeat=False))


class Slow(evenkeel.SenderPolicy):
    def entropy(self, now_ps):
        return now_ps % 7


def interrupted(command):
    """Ctrl-C half a second after the start ends the command quickly."""
    # A shell starts jobs in the background with SIGINT ignored, and Python leaves it so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            command()
    finally:
        timer.cancel()
    assert time.monotonic() - begin < 30


def test_a_run_that_was_interrupted_leaves_nothing_on_standard_error():
    script = textwrap.dedent(
        f"""
        import os, signal, threading
        import evenkeel
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            evenkeel.run({LONG!r}, threads=2)
        except KeyboardInterrupt:
            print("interrupted")
        print(evenkeel.run({SMALL!r}).cct_ns)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stderr == ""
    first, cct = done.stdout.split()
    assert first == "interrupted" and float(cct) == evenkeel.run(SMALL).cct_ns


def test_the_interpreter_is_free_while_a_run_goes():
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    begin = time.monotonic()
    evenkeel.run(SMALL.replace("256KB", "512MB"), threads=1)
    took, meanwhile = time.monotonic() - begin, counted[0] - before
    stop.set()
    thread.join()
    # A thread that has to wait for the interpreter would make no steps at all.
    assert meanwhile > took / 0.1, f"{meanwhile} steps in {took:.2f} s"


def test_two_runs_at_the_same_time_are_independent():
    alone = evenkeel.run(SMALL).cct_ns
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(evenkeel.run(SMALL).cct_ns))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [alone] * 4


def test_a_sweep_that_was_interrupted_goes_on(tmp_path):
    study = {
        "scenario": {
            "topology": {"leaves": 2, "spines": 2, "hosts_per_leaf": 4},
            "workload": {"kind": "all-to-all", "bytes": "1MB"},
        },
        "run": [{"name": "few", "seeds": 6}],
    }

    class Enough(Exception):
        pass

    def after_one(progress):
        if progress.runs_finished:
            raise Enough

    folder = tmp_path / "sweep"
    try:
        evenkeel.sweep(study, out=folder, jobs=1, progress=after_one)
    except Enough:
        pass
    again = []
    sweep = evenkeel.sweep(study, out=folder, progress=again.append)
    whole = evenkeel.sweep(study)
    assert sweep.table.to_dict() == whole.table.to_dict()


def test_a_bar_is_text_on_standard_error_or_html_in_a_notebook(monkeypatch):
    progress = Progress("spray, seed 1", 1500.0, 1, 4, 25, 100, 10, 0, 1)
    bar = Bar(0.0)
    assert bar.line(progress).startswith("spray, seed 1                [======  ")
    assert " 25 %, 1.5 us simulated" in bar.line(progress)
    assert '<progress value="0.2500" max="1"' in bar.html(progress)
    of_many = Progress("spray, seed 1", 1500.0, 1, 4, 25, 100, 10, 3, 4)
    assert of_many.fraction == 0.75 and "3 of 4 runs" in bar.line(of_many)
    errors = io.StringIO()
    monkeypatch.setattr(sys, "stderr", errors)
    evenkeel.run(SMALL, progress=True)
    assert "100 %" in errors.getvalue() and errors.getvalue().endswith("\r")
