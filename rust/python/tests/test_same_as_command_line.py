"""A scenario gives the same results as on the command line, byte for byte."""

from __future__ import annotations

import json
import re

import pytest
from conftest import EXAMPLES, ROOT, SMALL, without_costs

import evenkeel

#: Runs of about a second or less, one for each world and kind.
RUNS = [
    "idle-path",
    "incast-32",
    "lossless-incast",
    "link-failure",
    "recording",
    "chakra-ring",
    "chakra-streaming",
    "two-jobs",
    "flapping-link",
    "rails-failure",
    "goal-dissemination",
]

FLUID = SMALL.replace("[topology]", 'fidelity = "fluid"\n[topology]', 1)


@pytest.mark.filterwarnings("ignore::evenkeel.EvenkeelWarning")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_gives_the_same_summary_and_the_same_files(name, command_line, tmp_path):
    path = f"examples/{name}.toml"
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    printed = command_line("run", path, "--json", "--out", theirs)
    run = evenkeel.run(path, out=ours)
    costs = re.compile(r',"(wall_s|peak_rss_bytes)":[^,}]*')
    assert costs.sub("", run.json()) == costs.sub("", printed.rstrip("\n"))
    names = sorted(file.name for file in theirs.iterdir())
    assert sorted(file.name for file in ours.iterdir()) == names
    for file in names:
        if file != "cost.json":
            assert (ours / file).read_bytes() == (theirs / file).read_bytes(), file


def test_tables_have_the_rows_of_the_files(tmp_path):
    import csv

    run = evenkeel.run("examples/scale-up.toml", out=tmp_path)
    for name in ("flows", "links"):
        with open(tmp_path / f"{name}.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        table = run.tables[name].to_dict()
        assert list(table) == list(rows[0])
        for column, values in table.items():
            texts = [row[column] for row in rows]
            number = column.endswith("_ns")
            expected = [float(text) if number and text else text for text in texts]
            found = ["" if it is None else it if number else str(it) for it in values]
            assert found == expected, column


def test_a_fluid_run_is_the_same(command_line, tmp_path):
    path = tmp_path / "fluid.toml"
    path.write_text(FLUID)
    with pytest.warns(evenkeel.EvenkeelWarning):
        run = evenkeel.run(path)
    printed = command_line("run", path, "--json")
    assert without_costs(run.json()) == without_costs(printed)


def test_threads_change_no_byte():
    one, two = (evenkeel.run(SMALL, threads=threads) for threads in (1, 2))
    assert without_costs(one.json()) == without_costs(two.json())
    assert one.tables.flows.to_dict() == two.tables.flows.to_dict()


def test_a_comparison_is_the_same(command_line):
    policies = ["ecmp", "spray", "ethereal"]
    path = "examples/incast-32.toml"
    arguments = ["compare", path, "--policies", ",".join(policies), "--seeds", "2"]
    ours = evenkeel.compare(path, policies, seeds=2)
    assert without_costs(ours.json()) == without_costs(command_line(*arguments, "--json"))
    csv = command_line(*arguments, "--format", "csv")
    table = ours.statistics.to_dict()
    assert ",".join(table) == csv.splitlines()[0]
    assert len(ours.statistics) == len(csv.splitlines()) - 1


def test_a_comparison_of_rails_is_the_same(command_line):
    path = "examples/rails-failure.toml"
    ours = evenkeel.compare(path, ["nezha", "even"])
    theirs = command_line("compare", path, "--policies", "nezha,even", "--json")
    assert without_costs(ours.json()) == without_costs(theirs)


STUDY = """
[scenario.topology]
leaves = 2
spines = 2
hosts_per_leaf = 2
[[run]]
name = "sizes"
seeds = 2
[run.over]
policy = ["ecmp", "spray"]
"workload.bytes" = ["64KB", "256KB"]
"""


def test_a_sweep_is_the_same(command_line, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    command_line("sweep", study, "--out", theirs)
    sweep = evenkeel.sweep(STUDY, out=ours)
    assert (ours / "results.csv").read_bytes() == (theirs / "results.csv").read_bytes()
    assert len(sweep) == 8 and not sweep.errors
    assert sweep.table["policy"] == ["ecmp"] * 4 + ["spray"] * 4
    assert all(run.cct_ns > 0 for run in sweep.runs)


def test_points_are_the_same_and_together_the_sweep(command_line, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    points = evenkeel.points(study)
    assert points == [json.loads(it) for it in command_line("sweep", study, "--list").splitlines()]
    folders = [tmp_path / str(it["point"]) for it in points]
    parts = [evenkeel.sweep(study, point=it["point"], out=to) for it, to in zip(points, folders)]
    rows = [row for part in parts for row in zip(*part.table.to_dict().values())]
    whole = evenkeel.sweep(study, out=tmp_path / "whole")
    assert rows == list(zip(*whole.table.to_dict().values()))
    command_line("merge", *folders, "--out", tmp_path / "merged")
    merged = (tmp_path / "merged" / "results.csv").read_bytes()
    assert merged == (tmp_path / "whole" / "results.csv").read_bytes()
    with pytest.raises(evenkeel.StudyError, match="point 5 does not exist; expected 1 to 4"):
        evenkeel.sweep(study, point=5)


def test_bound_and_qps_are_the_same(command_line):
    path = "examples/all-to-all-256.toml"
    bound = evenkeel.bound(path)
    assert without_costs(str_of(bound)) == without_costs(command_line("bound", path, "--json"))
    assert bound.by
    qps = evenkeel.qps(path, policy="subflow-8")
    theirs = command_line("qps", path, "--policy", "subflow-8", "--json")
    assert without_costs(str_of(qps)) == without_costs(theirs)


def str_of(record):
    import json

    return json.dumps(record.to_dict())


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_is_checked_with_the_same_line(path, command_line):
    import warnings

    relative = path.relative_to(ROOT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", evenkeel.EvenkeelWarning)
        assert str(evenkeel.check(relative)) == command_line("check", relative).rstrip("\n")


@pytest.mark.filterwarnings("ignore::evenkeel.EvenkeelWarning")
def test_an_experiment_of_the_hpcc_family_is_the_same(command_line, tmp_path):
    config = "examples/hpcc/config.txt"
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    printed = command_line("hpcc", config, "--lb", "spray", "--json", "--out", theirs)
    run = evenkeel.hpcc(config, lb="spray", out=ours)
    assert without_costs(run.json()) == without_costs(printed)
    names = sorted(file.name for file in theirs.iterdir())
    assert sorted(file.name for file in ours.iterdir()) == names
    assert (ours / "fct.txt").read_bytes() == (theirs / "fct.txt").read_bytes()
    # The configuration as text: its paths are relative to the working folder.
    folder = "examples/hpcc/"
    files = {"topology": folder + "topology.txt", "flows": folder + "flow.txt"}
    text = (ROOT / config).read_text()
    assert evenkeel.hpcc(text, lb="spray", **files).cct_ns == run.cct_ns


def test_a_time_line_and_a_check_are_the_same(command_line, tmp_path):
    theirs, ours = tmp_path / "theirs.pftrace", tmp_path / "ours.pftrace"
    command_line("run", "examples/idle-path.toml", "--trace", theirs, "--check")
    run = evenkeel.run("examples/idle-path.toml", trace=ours, check=True)
    assert ours.read_bytes() == theirs.read_bytes()
    assert run.violations == []
    assert evenkeel.run("examples/idle-path.toml").violations is None


@pytest.mark.parametrize("option", [{"trace": "a.pftrace"}, {"check": True}])
def test_a_run_without_packets_has_neither_time_line_nor_check(option):
    for scenario in (FLUID, "examples/rails-failure.toml"):
        with pytest.raises(evenkeel.ArgumentError, match=f"^{next(iter(option))}: "):
            evenkeel.run(scenario, **option)
