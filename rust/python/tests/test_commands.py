"""explain, list, report, import, export and trace do what the commands do."""

from __future__ import annotations

import re

import pytest
from conftest import SMALL

import evenkeel

RING = "examples/ring-all-reduce.toml"


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("key", ["failure.convergence", "reps", "packets.dropped", "[record]"])
def test_explain_gives_the_text_of_the_command(key, command_line):
    assert evenkeel.explain(key) == command_line("explain", key)


def test_explain_suggests_similar_words():
    with pytest.raises(evenkeel.ArgumentError, match="'convergense' is not .*did you mean conv"):
        evenkeel.explain("convergense")
    with pytest.raises(evenkeel.ArgumentError, match="key = 3: expected a str, not int"):
        evenkeel.explain(3)


def test_list_gives_the_rows_of_the_command(command_line):
    for what in ["policies", "collectives", "topologies", "workloads", "models", "allocators",
                 "congestion-controls", "recoveries", "formats"]:
        rows, text = evenkeel.list(what), command_line("list", what)
        names = re.findall(r"^(\S+)", text, re.M)[1:]
        assert [row["name"] for row in rows] == names, what
        assert all(row.get("description", row.get("contents")) for row in rows)
    assert set(evenkeel.list("policies")[0]) == {"name", "description", "source"}
    with pytest.raises(evenkeel.ArgumentError, match="'policy'; expected one of policies, coll"):
        evenkeel.list("policy")


def test_a_report_of_folders_is_the_page_of_the_command(command_line, tmp_path):
    folder = tmp_path / "run"
    evenkeel.run("examples/recording.toml", out=folder)
    ours, theirs = tmp_path / "first.html", tmp_path / "other.html"
    assert evenkeel.report(folder, out=ours, question="Why?") == str(ours)
    command_line("report", folder, "--out", theirs, "--question", "Why?")
    assert ours.read_text().replace("first.html", "other.html") == theirs.read_text()


def test_a_report_of_results_names_no_temporary_folder(tmp_path):
    page = tmp_path / "page.html"
    comparison = evenkeel.compare(SMALL, ["ecmp", evenkeel.Policy("reps", buffer=2)], seeds=5)
    evenkeel.report(comparison, evenkeel.run(SMALL), out=page, metric="slowdown")
    html = page.read_text()
    assert "reps(buffer=2)" in html and "results/1/scenario.toml" in html
    assert "evenkeel-" not in re.search(r'id="command">(.*?)</code>', html, re.S).group(1)
    foreign = tmp_path / "notes.html"
    foreign.write_text("mine")
    with pytest.raises(evenkeel.ResultsError, match="is not a page that evenkeel wrote"):
        evenkeel.report(comparison, out=foreign)
    assert foreign.read_text() == "mine"
    study = {"run": [{"name": "a", "over": {"policy": ["ecmp", "spray"]}}]}
    study["scenario"] = {"topology": {"leaves": 2, "spines": 2, "hosts_per_leaf": 2}}
    evenkeel.report(evenkeel.sweep(study), out=page)
    command = re.search(r'id="command">(.*?)</code>', page.read_text(), re.S).group(1)
    assert "results/0" in command and "evenkeel-" not in command
    with pytest.raises(evenkeel.ArgumentError, match="results: none"):
        evenkeel.report(out=page)
    with pytest.raises(evenkeel.ResultsError, match="absent"):
        evenkeel.report(tmp_path / "absent", out=page)


@pytest.mark.parametrize("form", ["hpcc", "htsim", "goal", "chakra", "infragraph"])
@pytest.mark.filterwarnings("ignore::evenkeel.EvenkeelWarning")
def test_export_writes_the_files_of_the_command(form, command_line, tmp_path):
    path = RING if form in ("goal", "chakra") else "examples/incast-32.toml"
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    written = evenkeel.export(path, form, ours)
    command_line("export", path, "--format", form, "--out", theirs)
    assert files(ours) == files(theirs)
    assert written and all(str(ours) in name for name in written)


def test_export_says_what_a_format_cannot_express(tmp_path):
    with pytest.raises(evenkeel.ArgumentError, match="format = 'x': expected one of hpcc, htsim"):
        evenkeel.export(RING, "x", tmp_path)
    with pytest.raises(evenkeel.ArgumentError, match="cannot be written in this format"):
        evenkeel.export(RING, "hpcc", tmp_path)
    with pytest.raises(evenkeel.ArgumentError, match=r"\[\[rail\]\] sections"):
        evenkeel.export("examples/rails-failure.toml", "hpcc", tmp_path)


def test_import_returns_the_scenario_of_the_command(command_line, tmp_path):
    (file,) = evenkeel.export(RING, "goal", tmp_path)
    settings = {"topology.delay": "1us"}
    text = evenkeel.import_(file, set=settings)
    assert text == command_line("import", file, "--set", "topology.delay=1us")
    out = tmp_path / "again.toml"
    with pytest.warns(evenkeel.EvenkeelWarning, match="example"):
        evenkeel.import_(file, out=out)
    assert evenkeel.run(out).completed
    before = out.read_text()
    with pytest.raises(evenkeel.ResultsError, match="the file exists"):
        evenkeel.import_(file, out=out)
    assert out.read_text() == before
    with pytest.raises(evenkeel.ArgumentError, match="unknown file extension; set format to one"):
        evenkeel.import_("a.b")
    with pytest.raises(evenkeel.ArgumentError, match="format = 'x': expected one of hpcc"):
        evenkeel.import_(file, format="x")
    with pytest.raises(evenkeel.ResultsError, match="the folder does not exist"):
        evenkeel.import_(file, out=tmp_path / "absent" / "a.toml")


def test_trace_writes_the_traces_of_the_command_or_a_timeline(command_line, tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    written = evenkeel.trace(RING, ours)
    command_line("trace", RING, "--out", theirs)
    assert files(ours) == files(theirs) and len(written) == len(files(ours))
    timeline, run = tmp_path / "a.pftrace", tmp_path / "b.pftrace"
    assert evenkeel.trace(SMALL, timeline, policy="ecmp", seed=2) == [str(timeline)]
    evenkeel.run(SMALL, trace=run, policy="ecmp", seed=2)
    assert timeline.read_bytes() == run.read_bytes()
    with pytest.raises(evenkeel.ArgumentError, match="traces have no policy"):
        evenkeel.trace(RING, ours, policy="ecmp")
    with pytest.raises(evenkeel.ArgumentError, match="out = None: expected a path"):
        evenkeel.trace(RING, None)
