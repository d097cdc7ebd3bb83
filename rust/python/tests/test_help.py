"""`help` describes every argument and every key, with its value."""

from __future__ import annotations

import inspect
import pydoc
import re

import pytest

import evenkeel
from evenkeel import _evenkeel

SECTIONS = {
    "topology": evenkeel.Topology,
    "switch": evenkeel.Switch,
    "transport": evenkeel.Transport,
    "policy": evenkeel.Policy,
    "class": evenkeel.TrafficClass,
    "workload": evenkeel.Workload,
    "job": evenkeel.Job,
    "failure": evenkeel.Failure,
    "record": evenkeel.Record,
    "hosts": evenkeel.Hosts,
    "rail": evenkeel.Rail,
    "handler": evenkeel.Handler,
    "": evenkeel.Scenario,
}

FUNCTIONS = [
    "run", "compare", "points", "sweep", "hpcc", "check", "bound", "qps", "explain", "list", "report",
    "import_", "export", "trace",
]


def help_of(thing):
    """Returns the text of `help`, without the marks of bold letters and of classes."""
    return re.sub(r"^ \|  ?", "", pydoc.plain(pydoc.render_doc(thing)), flags=re.M)


@pytest.mark.parametrize("section", SECTIONS)
def test_help_describes_the_keys_of_a_section_as_the_documentation_does(section):
    text = help_of(SECTIONS[section])
    found = 0
    for key, _, form, default, summary in _evenkeel.catalogue():
        above, _, name = key.partition(".") if "." in key else ("", "", key)
        if above != section:
            continue
        found += 1
        form, summary = form.replace("`", ""), summary.replace("`", "")
        assert f"    {name} ({form}): {summary}" in text, key
        assert not default or f"Default: {default.replace('`', '')}." in text, key
    assert found > 0


@pytest.mark.parametrize("section", SECTIONS)
def test_the_example_of_a_section_is_valid(section):
    kind = SECTIONS[section]
    example = re.search(r"^Example: (.*)$", kind.__doc__, re.M).group(1)
    made = eval(example, dict(vars(evenkeel)))
    assert isinstance(made, kind)
    needs = {
        "class": {"switch": {"ecn": {"kmin": "100KB", "kmax": "400KB"}}},
        "job": {},
        "rail": {"hosts": {"count": 4}, "workload": {"bytes": "1MB"}},
        "hosts": {"rail": [{"kind": "tcp"}]},
        "handler": {"rail": [{"kind": "tcp"}, {"kind": "rdma"}]},
    }
    listed = section in ("class", "job", "failure", "rail")
    table = {**needs.get(section, {}), section: [made.to_dict()] if listed else made.to_dict()}
    evenkeel.check(made if section == "" else table)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_describes_each_argument_of_a_function(name):
    function = getattr(evenkeel, name)
    text = function.__doc__
    for argument in inspect.signature(function).parameters:
        described = re.search(rf"^ *(?:\w+, )*{argument}(?:, \w+)*: \S", text, re.M)
        assert described, f"{name}: {argument}"
    command = "sweep --list" if name == "points" else name.rstrip("_")
    assert "Example: " in text and f"evenkeel {command}" in text
    assert text.strip().splitlines()[0] in help_of(function)


def test_help_names_the_parameters_of_policies():
    text = help_of(evenkeel.Policy)
    assert 'buffer = 8, freeze = "10ms"' in text
    for row in evenkeel.list("policies"):
        assert f"    {row['name']}: " in text
