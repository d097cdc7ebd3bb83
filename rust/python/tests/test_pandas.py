"""Data frames of pandas 2 and 3, with and without pyarrow, have the right types."""

from __future__ import annotations

import sys

import pytest
from conftest import SMALL

import evenkeel

pandas = pytest.importorskip("pandas")

TEXT = pandas.Series(["a"], dtype="str").dtype

LATE = SMALL.replace("[topology]", 'time_limit = "5us"\n[topology]', 1)


@pytest.fixture(params=["pyarrow", "without"])
def pyarrow(request, monkeypatch):
    """Runs a test with pyarrow, and as if it were not installed."""
    if request.param == "pyarrow":
        pytest.importorskip("pyarrow")
    else:
        monkeypatch.setitem(sys.modules, "pyarrow", None)


def types(frame):
    return {name: it for name, it in frame.dtypes.items()}


def test_columns_have_the_types_of_their_values(pyarrow):
    run = evenkeel.run(SMALL)
    frame = run.tables.flows.to_pandas()
    whole, number = ("message", "piece", "bytes", "source_port", "step"), "fct_ns"
    found = types(frame)
    assert all(found[name] == "int64" for name in whole)
    assert all(it == "float64" for name, it in found.items() if name.endswith("_ns"))
    assert all(found[name] == TEXT for name in ("src", "dst", "job"))
    assert list(frame) == run.tables.flows.column_names and len(frame) == run.flows
    assert frame[number].max() == run.fct_ns.max and frame["bytes"].sum() > 0
    assert frame.groupby("src")["bytes"].sum().nunique() == 1
    assert frame["job"].tolist() == [""] * len(frame)


def test_missing_numbers_are_nan(pyarrow):
    frame = evenkeel.run(LATE).tables.flows.to_pandas()
    assert frame["completed_ns"].dtype == "float64" and frame["completed_ns"].isna().any()
    assert frame["bytes"].dtype == "int64"


@pytest.mark.filterwarnings("ignore::evenkeel.EvenkeelWarning")
def test_every_table_is_a_frame(pyarrow):
    comparison = evenkeel.compare(SMALL, ["ecmp", "spray"], seeds=2)
    frame = comparison.statistics.to_pandas()
    assert frame["median"].dtype == "float64" and frame["policy"].dtype == TEXT
    table = {"topology": {"leaves": 2, "spines": 2, "hosts_per_leaf": 2}}
    over = {"policy": ["ecmp", "reps"], "transport.ack_every": [1, 2]}
    sweep = evenkeel.sweep({"scenario": table, "run": [{"name": "a", "over": over}]})
    frame = sweep.table.to_pandas()
    assert frame["policy"].tolist() == ["ecmp", "ecmp", "reps", "reps"]
    assert frame["transport.ack_every"].dtype == "int64" and frame["error"].dtype == TEXT
    assert frame["cct_ns"].dtype == "float64" and frame["packets.dropped"].dtype == "int64"
    # Metrics of scenarios with several rails have no values here.
    assert frame["cpu_busy_ns_max"].dtype == "float64" and frame["cpu_busy_ns_max"].isna().all()
    for run in (evenkeel.run(SMALL + '[record]\n'), evenkeel.run("examples/rails-failure.toml")):
        for name, table in run.tables.items():
            found = table.to_pandas()
            assert len(found) == len(table), name
            for column, kind in zip(table.column_names, table.column_types):
                expected = {"int64": ("int64", "float64"), "float64": ("float64",)}
                assert found[column].dtype in expected.get(kind, (TEXT,)), (name, column)
    data = comparison.plot()[0].data.to_pandas()
    assert data["y"].dtype == "float64" and data["series"].dtype == TEXT
