"""The package as a whole: its version, its names, its types."""

from __future__ import annotations

import pathlib
import re
import typing

import pytest
from conftest import ROOT

import evenkeel
from evenkeel import _evenkeel


def test_the_version_is_that_of_the_crate():
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    assert evenkeel.__version__ == re.search(r'^version = "(.*)"', manifest, re.M).group(1)


def test_every_name_is_there_and_documented():
    for name in evenkeel.__all__:
        assert getattr(evenkeel, name, None) is not None, name
        if not name.startswith("__") and name != "Record":
            assert getattr(evenkeel, name).__doc__, name


def test_the_stub_has_the_names_of_the_compiled_part():
    stub = (ROOT / "rust/python/evenkeel/_evenkeel.pyi").read_text(encoding="utf-8")
    declared = set(re.findall(r"^(?:def|class) (\w+)", stub, re.M)) | {"VERSION"}
    compiled = {name for name in dir(_evenkeel) if not name.startswith("_")}
    assert declared == compiled
    for name in compiled:
        kind = getattr(_evenkeel, name)
        if not isinstance(kind, type) or name in ("RailRun",):
            continue
        body = re.search(rf"^class {name}\b.*?(?=^(?:class|def) |\Z)", stub, re.M | re.S).group(0)
        methods = set(re.findall(r"^    def (\w+)|^    (\w+):", body, re.M))
        own = {part for pair in methods for part in pair if part} - {"__init__"}
        assert own <= set(dir(kind)), f"{name}: {own - set(dir(kind))}"


def test_the_package_says_that_it_is_typed():
    assert (pathlib.Path(evenkeel.__file__).parent / "_errors.py").exists()
    assert (ROOT / "rust/python/evenkeel/py.typed").exists()
    hints = typing.get_type_hints(evenkeel.Run)
    assert hints["cct_ns"] == typing.Optional[float]


@pytest.mark.parametrize("name", ["run", "compare", "sweep", "hpcc", "check", "bound", "qps"])
def test_each_command_says_what_it_is_on_the_command_line(name):
    assert f"evenkeel {name}" in getattr(evenkeel, name).__doc__
