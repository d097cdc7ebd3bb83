"""Results: attributes, tables in other libraries, HTML, figures."""

from __future__ import annotations

import json
import pickle
import xml.etree.ElementTree as xml

import pytest
from conftest import SMALL

import evenkeel

pyarrow = pytest.importorskip("pyarrow")

RECORDED = SMALL + '[record]\nevery = "1us"\n'


@pytest.fixture(scope="module")
def run():
    return evenkeel.run(SMALL)


@pytest.fixture(scope="module")
def recorded():
    return evenkeel.run(RECORDED, policy="reps")


@pytest.fixture(scope="module")
def rails():
    return evenkeel.run("examples/rails-failure.toml")


def test_the_keys_of_the_contract_are_attributes(run):
    values = json.loads(run.json())
    assert set(values) == set(run)
    for key, value in values.items():
        attribute = getattr(run, key)
        assert value == (attribute.to_dict() if isinstance(value, dict) else attribute), key
    assert run.fct_ns.p99 == run["fct_ns"]["p99"] == values["fct_ns"]["p99"]
    assert run.completed and run.incomplete is None
    assert run.to_dict() == values
    with pytest.raises(AttributeError, match="its values are"):
        run.cct
    with pytest.raises(AttributeError, match="cannot be changed"):
        run.cct_ns = 1
    assert pickle.loads(pickle.dumps(run)).cct_ns == run.cct_ns
    assert "cct_ns" in dir(run) and "cct_ns=" in repr(run)


def test_flows_and_links_are_tables(run):
    flows = pyarrow.table(run.tables.flows)
    assert flows.num_rows == run.flows == 8 * 7
    assert flows.schema.field("start_ns").type == pyarrow.float64()
    assert flows.schema.field("bytes").type == pyarrow.int64()
    assert max(flows["fct_ns"].to_pylist()) == run.fct_ns.max
    links = pyarrow.table(run.tables["links"])
    assert links.num_rows == 2 * run.links
    assert max(links["bytes"].to_pylist()) == run.link_bytes_max
    assert list(run.tables) == ["flows", "links"]


def test_tables_have_the_values_of_the_files(run, recorded, rails, tmp_path):
    pandas = pytest.importorskip("pandas")
    for index, result in enumerate([run, recorded, rails]):
        folder = tmp_path / str(index)
        result.save(folder)
        for name, table in result.tables.items():
            file = pandas.read_csv(folder / f"{name}.csv")
            ours = pyarrow.table(table).to_pandas()
            if "job" in file:
                # pandas reads the empty job name of a scenario without jobs as missing.
                file["job"] = file["job"].fillna("")
            pandas.testing.assert_frame_equal(ours, file, check_dtype=False, rtol=0)
            assert len(ours) > 0, name


def test_time_series_and_operations_are_tables(recorded, rails):
    assert {"ports", "queue_pairs", "paths"} <= set(recorded.tables)
    times = recorded.tables.ports["time_ns"]
    assert times == sorted(times) and times[-1] <= recorded.cct_ns + 1000
    assert set(rails.tables) == {"operations", "timeline"}
    rows = len(rails["operations"]) * len(rails["rails"])
    assert rails.tables.operations.num_rows == rows
    with pytest.raises(evenkeel.ArgumentError, match=r"\[record\]"):
        evenkeel.run(SMALL).tables.ports


def test_columns_are_passed_on_without_a_copy(run):
    table = run.tables.flows
    first, second = pyarrow.table(table), pyarrow.table(table)
    for column in ("bytes", "fct_ns", "src"):
        addresses = [it[column].chunk(0).buffers()[-1].address for it in (first, second)]
        assert addresses[0] == addresses[1], "both see the memory of the results"
    # The memory outlives the objects that exported it.
    expected = table["fct_ns"]
    del table, second
    assert first["fct_ns"].to_pylist() == expected
    schema = pyarrow.schema(run.tables.flows)
    assert schema == first.schema


def test_pandas_polars_and_duckdb_take_tables(run):
    pandas = pytest.importorskip("pandas")
    frame = run.tables.flows.to_pandas()
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert frame.equals(pandas.DataFrame.from_arrow(run.tables.flows))
    assert frame["bytes"].sum() == 8 * 7 * (frame["bytes"].iloc[0])
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(run.tables.flows)["fct_ns"].max() == run.fct_ns.max
    duckdb = pytest.importorskip("duckdb")
    flows = pyarrow.table(run.tables.flows)
    found = duckdb.sql("select src, max(fct_ns) from flows group by src").fetchall()
    assert len(found) == flows["src"].combine_chunks().unique().__len__()


def test_a_run_that_does_not_complete_is_a_result():
    late = SMALL.replace("[topology]", 'time_limit = "5us"\n[topology]', 1)
    run = evenkeel.run(late)
    assert not run.completed and run.cct_ns is None
    assert "reached its time limit" in run.incomplete
    assert None in run.tables.flows["completed_ns"]
    assert "reached its time limit" in run._repr_html_()
    comparison = evenkeel.compare(late, ["ecmp", "spray"], seeds=1)
    assert not comparison.completed and len(comparison.incomplete) == 2


def test_html_is_well_formed_and_has_the_numbers(run, recorded, rails):
    comparison = evenkeel.compare(SMALL, ["ecmp", "spray"], seeds=2)
    sweep = evenkeel.sweep(
        {"run": [{"name": "a", "over": {"policy": ["ecmp", "spray"]}}], "scenario": SMALL_TABLE}
    )
    for result in [run, recorded, rails, comparison, sweep]:
        root = xml.fromstring(f"<div>{result._repr_html_()}</div>")
        assert len(root.findall(".//tr")) > 2
    assert "bound" in run._repr_html_() and "spray" in comparison._repr_html_()
    assert str(comparison).count("\n") > 3 and "runs" in repr(comparison)
    # A name is text, not markup.
    named = evenkeel.run(SMALL, name="a<b>")._repr_html_()
    assert "a&lt;b&gt;" in named and "<b>" not in named


SMALL_TABLE = {
    "topology": {"leaves": 2, "spines": 2, "hosts_per_leaf": 4},
    "workload": {"kind": "all-to-all", "bytes": "64KB"},
}


def test_figures_are_svg(run, recorded, tmp_path):
    figures = recorded.plot()
    names = [figure.name for figure in figures]
    assert any(name.startswith("queues") for name in names), names
    for figure in figures:
        assert xml.fromstring(figure._repr_svg_()).tag.endswith("svg")
    figures["completion-cdf"].save(tmp_path / "cdf.svg")
    assert (tmp_path / "cdf.svg").read_text().startswith("<svg")
    for ending, start in [("pdf", b"%PDF-"), ("png", b"\x89PNG"), ("csv", b"figure,panel,series")]:
        figures["queues"].save(tmp_path / f"queues.{ending}")
        assert (tmp_path / f"queues.{ending}").read_bytes().startswith(start)
    with pytest.raises(evenkeel.ArgumentError, match="ending '.eps'; use .svg, .pdf, .png"):
        figures["queues"].save(tmp_path / "queues.eps")
    both = evenkeel.plot(run, recorded)
    assert "by-policy" in [figure.name for figure in both]
    with pytest.raises(KeyError, match="expected one of"):
        both["absent"]
    assert evenkeel.compare(SMALL, ["ecmp", "spray"], seeds=2).plot()[0].svg


def test_the_data_of_a_figure_is_a_tidy_table_and_its_look_can_be_chosen(recorded):
    data = recorded.plot()["completion-cdf"].data
    assert data.column_names[:6] == ["figure", "panel", "series", "kind", "x", "y"]
    assert data["y"][-1] == 1.0 and data["x"][-1] == recorded.fct_ns.max
    assert data["x_label"][0] == "message completion time (ns)"
    matrix = recorded.plot()["link-load"].data
    assert set(matrix["column"]) and set(matrix["x"]) == {None}
    look = {"units": "si", "x_scale": "log", "y_label": "CDF", "size": (400, 300)}
    (figure,) = recorded.plot(figure="completion", **look)
    assert "(µs)" in figure.svg and "\nCDF\n" in figure.svg and 'width="400"' in figure.svg
    with pytest.raises(evenkeel.ArgumentError, match="units='x': expected one of plain, si"):
        recorded.plot(units="x")
    with pytest.raises(evenkeel.ArgumentError, match="no such figure in the results; expected"):
        recorded.plot(figure="x")


def test_pandas_polars_and_duckdb_read_the_files_without_arguments(recorded, rails, tmp_path):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    for index, result in enumerate([recorded, rails]):
        folder = tmp_path / str(index)
        result.save(folder)
        for name, table in result.tables.items():
            path = folder / f"{name}.csv"
            columns = list(table.to_dict())
            frame, other = pandas.read_csv(path), polars.read_csv(path)
            third = duckdb.sql(f"from '{path}'")
            assert list(frame.columns) == other.columns == third.columns == columns, name
            assert len(frame) == len(other) == len(third) == len(table), name


def test_results_fit_their_schemas(recorded, rails, command_line, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    for index, (kind, result) in enumerate([("run", recorded), ("rails", rails)]):
        folder = tmp_path / str(index)
        result.save(folder)
        schema = json.loads(command_line("schema", kind))
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        validator.validate(json.loads(result.json()))
        validator.validate(json.loads((folder / "summary.json").read_text()))
        assert list(validator.iter_errors({"scenario": 1}))
        cost = json.loads((folder / "cost.json").read_text())
        jsonschema.validate(cost, json.loads(command_line("schema", "cost")))
        assert cost["wall_s"] == result.wall_s


def test_absent_keys_have_their_documented_values(run, rails):
    assert run.jobs == [] and run.scale_up is None and run.fidelity == "packet"
    assert "jobs" not in run and run.transport.recovery
    assert isinstance(rails, evenkeel.RailRun) and isinstance(rails, evenkeel.Run)
    assert rails.rails[0].name and rails.operations[0].bytes > 0
    with pytest.raises(AttributeError, match="its values are"):
        rails.flows
