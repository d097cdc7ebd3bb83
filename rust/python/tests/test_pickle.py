"""Results and scenarios are the same after pickling, copying, and in other processes."""

from __future__ import annotations

import concurrent.futures
import copy
import gc
import multiprocessing
import pickle

import pytest
from conftest import SMALL

import evenkeel
from evenkeel import Failure, Scenario, Topology

RECORDED = SMALL + '[record]\nevery = "1us"\n'

TABLE = {
    "topology": {"leaves": 2, "spines": 2, "hosts_per_leaf": 4},
    "workload": {"kind": "all-to-all", "bytes": "64KB"},
}


def pickled(value):
    return pickle.loads(pickle.dumps(value))


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture(scope="module")
def recorded():
    return evenkeel.run(RECORDED, check=True)


@pytest.fixture(scope="module")
def rails():
    return evenkeel.run("examples/rails-failure.toml")


@pytest.mark.parametrize("name", ["recorded", "rails"])
def test_a_pickled_run_is_a_run_with_every_method(name, request, tmp_path):
    run = request.getfixturevalue(name)
    for again in (pickled(run), pickled(pickled(run))):
        assert type(again) is type(run) and again == run
        assert again.json() == run.json() and str(again) == str(run)
        for attribute in ("completed", "incomplete", "notes", "scenario_toml", "violations"):
            assert getattr(again, attribute) == getattr(run, attribute), attribute
        assert list(again.tables) == list(run.tables)
        for table in run.tables:
            assert again.tables[table].to_dict() == run.tables[table].to_dict(), table
            types = again.tables[table].__reduce__()[1][0]
            assert types == run.tables[table].__reduce__()[1][0], table
        assert [it.svg for it in again.plot()] == [it.svg for it in run.plot()]
        assert again._repr_html_() == run._repr_html_()
        with pytest.raises(evenkeel.ArgumentError, match="has no table 'absent'"):
            again.tables.absent
    run.save(tmp_path / "first")
    again.save(tmp_path / "again")
    assert files(tmp_path / "again") == files(tmp_path / "first")
    # A folder with files of other programs is rejected.
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("x")
    with pytest.raises(evenkeel.ResultsError, match="notes.txt"):
        again.save(tmp_path / "other")


def test_a_run_of_the_hpcc_family_is_pickled(tmp_path):
    run = evenkeel.hpcc("examples/hpcc/config.txt")
    again = pickled(run)
    assert again.json() == run.json() and again.scenario_toml is None
    again.save(tmp_path / "out")
    assert (tmp_path / "out" / "flows.csv").exists()


def test_processes_bring_runs_back(recorded):
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        run = pool.submit(evenkeel.run, RECORDED).result()
    assert isinstance(run, evenkeel.Run)
    assert run.tables.flows.to_dict() == recorded.tables.flows.to_dict()
    assert run.plot()["queues"].svg == recorded.plot()["queues"].svg
    joblib = pytest.importorskip("joblib")
    (run,) = joblib.Parallel(n_jobs=2)([joblib.delayed(evenkeel.run)(SMALL)])
    assert run.cct_ns == evenkeel.run(SMALL).cct_ns


def test_comparisons_sweeps_and_figures_are_pickled(tmp_path):
    comparison = evenkeel.compare(SMALL, ["ecmp", "spray"], seeds=2)
    again = pickled(comparison)
    assert again.json() == comparison.json() and str(again) == str(comparison)
    assert again.statistics.to_dict() == comparison.statistics.to_dict()
    assert again.runs == comparison.runs and again["ecmp"][0].cct_ns > 0
    again.save(tmp_path / "comparison.csv")
    assert [it.svg for it in again.plot()] == [it.svg for it in comparison.plot()]
    figure = pickled(again.plot())[0]
    assert figure.svg == comparison.plot()[0].svg and len(figure.data) > 0
    figure.save(tmp_path / "figure.pdf")

    study = {"run": [{"name": "a", "over": {"policy": ["ecmp", "spray"]}}], "scenario": TABLE}
    sweep = evenkeel.sweep(study)
    again, rows = pickled(sweep), sweep.table.to_dict()
    names = [it.name for it in sweep.plot()]
    # The temporary folder of the original is removed with it.
    del sweep
    gc.collect()
    assert again.table.to_dict() == rows and len(again) == 2 and again.runs[0].cct_ns > 0
    assert [it.name for it in again.plot()] == names
    kept = evenkeel.sweep(study, out=tmp_path / "sweep")
    assert pickled(kept).folder == kept.folder and pickled(kept).plot()


def test_scenarios_and_other_values_are_pickled():
    scenario = Scenario(topology=Topology(leaves=2), policy="reps", failure=[Failure(at="1us")])
    for again in (pickled(scenario), copy.copy(scenario), copy.deepcopy(scenario)):
        assert type(again) is Scenario and again.to_dict() == scenario.to_dict()
    other = copy.deepcopy(scenario)
    other.topology.leaves, other.failure[0].at = 4, "2us"
    section = copy.copy(scenario.topology)
    section.leaves = 8
    assert scenario.topology.leaves == 2 and scenario.failure[0].at == "1us"
    assert pickled(Scenario.load(SMALL)).to_dict() == Scenario.load(SMALL).to_dict()
    for value in (evenkeel.bound(SMALL), evenkeel.qps(SMALL)):
        assert pickled(value) == value and type(pickled(value)) is type(value)
    assert pickled(evenkeel.bound(SMALL)).by == evenkeel.bound(SMALL).by
    assert pickled(evenkeel.PlaneMask(5)) == evenkeel.PlaneMask(5)
    assert str(pickled(evenkeel.check(SMALL))) == str(evenkeel.check(SMALL))
    with pytest.raises(evenkeel.ScenarioError) as raised:
        evenkeel.check({"topology": {"leafs": 2}})
    error = pickled(raised.value)
    assert str(error) == str(raised.value) and error.place == raised.value.place


def test_results_are_copied_as_themselves(recorded):
    for copied in (copy.copy(recorded), copy.deepcopy(recorded)):
        assert copied is recorded
    assert copy.deepcopy([recorded])[0].cct_ns == recorded.cct_ns
    comparison = copy.deepcopy(evenkeel.compare(SMALL, ["ecmp"], seeds=1))
    assert comparison.plot() and comparison.runs[0].cct_ns > 0


def test_a_table_keeps_types_missing_values_and_texts():
    late = evenkeel.run(SMALL.replace("[topology]", 'time_limit = "5us"\n[topology]', 1))
    flows = pickled(late.tables.flows)
    assert flows.to_dict() == late.tables.flows.to_dict() and None in flows["completed_ns"]
    assert flows["job"] == [""] * len(flows) and isinstance(flows["fct_ns"][0], (float, type(None)))
    data = evenkeel.run(SMALL).plot()[0].data
    assert pickled(data).to_dict() == data.to_dict()


@pytest.mark.parametrize(
    "columns, csv, message",
    [
        ([("a", "Int64"), ("b", "Int64")], b'"1"\n', "row 1: 1 values; expected 2"),
        ([("a", "Int64")], b'"1"\n"1","2"\n', "row 2: 2 values; expected 1"),
        ([], b"", "no columns"),
    ],
)
def test_a_table_has_rows_of_equal_length(columns, csv, message):
    with pytest.raises(ValueError, match=message):
        evenkeel.Table(columns, csv)


@pytest.mark.parametrize("name", ["", "..", "../outside", "/outside/file", "folder/file"])
def test_files_of_a_pickle_stay_in_their_folder(name, recorded, tmp_path):
    function, (native, warnings) = recorded.__reduce__()
    native.files[name] = b"x"
    with pytest.raises(evenkeel.ArgumentError, match="expected the name of a file, not a path"):
        function(native, warnings).save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
    study = {"run": [{"name": "a", "over": {"policy": ["ecmp"]}}], "scenario": TABLE}
    restore, (found, files) = evenkeel.sweep(study).__reduce__()
    with pytest.raises(evenkeel.ArgumentError, match="expected the name of a file, not a path"):
        restore(found, {**files, name: b"x"})


KEPT: dict = {}


def keep(*values):
    """Keeps some arguments of each class."""
    for value in values:
        of_class = KEPT.setdefault(type(value).__name__, [])
        if len(of_class) < 5:
            of_class.append(value)


class Keeping(evenkeel.SwitchPolicy):
    def __init__(self, switch):
        self.random = switch.random()
        keep(switch)

    def choose(self, now_ps, packet, view):
        keep(packet, view, copy.deepcopy(self.random))
        return self.random.below(view.candidates)

    def detour(self, view):
        keep(view, view.minimal)

    def handle_departure(self, now_ps, packet, departure):
        keep(departure)


class Listening(evenkeel.SenderPolicy):
    def __init__(self, qp):
        keep(qp)

    def entropy(self, now_ps):
        return 1

    def handle_feedback(self, now_ps, feedback):
        keep(feedback)


def fields(value):
    """Returns the attributes of an argument, and the next numbers of a stream."""
    if isinstance(value, evenkeel.Random):
        return [copy.deepcopy(value).next_u32() for _ in range(2)]
    names = [it for it in dir(value) if not it.startswith("_")]
    found = {it: getattr(value, it) for it in names if not callable(getattr(value, it))}
    minimal = found.pop("minimal", None)
    return found, None if minimal is None else fields(minimal)


def test_the_arguments_of_policies_are_pickled():
    dragonfly = {"workload.bytes": "64KiB"}
    evenkeel.run("examples/dragonfly.toml", policy=Keeping, set=dragonfly, repeat=False)
    evenkeel.run(SMALL, policy=Listening, repeat=False)
    evenkeel.run(SMALL, policy=Keeping, repeat=False)
    kept = [value for of_class in KEPT.values() for value in of_class]
    switch = {"Packet", "SwitchView", "SwitchContext", "Departure", "DetourView", "RouteLoad"}
    assert set(KEPT) == switch | {"Random", "Feedback", "QpContext"}
    for value in kept:
        again = pickled(value)
        assert type(again) is type(value) and fields(again) == fields(value)
    stream = KEPT["Random"][0]
    again = pickled(stream)
    assert [again.next_u32() for _ in range(9)] == [stream.next_u32() for _ in range(9)]
