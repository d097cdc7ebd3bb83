"""The forms of a scenario argument, and the exceptions for invalid ones."""

from __future__ import annotations

import inspect
import pathlib
import pydoc
import re

import pytest
from conftest import EXAMPLES, SMALL, without_costs

import evenkeel
from evenkeel import Failure, Job, Policy, Scenario, ScenarioError, Topology, Workload, _evenkeel
from evenkeel._section import Section

TABLE = {
    "topology": {"leaves": 2, "spines": 2, "hosts_per_leaf": 4},
    "policy": {"name": "spray"},
    "workload": {"kind": "all-to-all", "bytes": "256KB"},
}


def test_path_text_table_and_object_are_the_same_run(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(SMALL)
    built = Scenario(
        topology=Topology(leaves=2, spines=2, hosts_per_leaf=4),
        policy="spray",
        workload=Workload(kind="all-to-all", bytes="256KB"),
    )
    given = [str(path), path, SMALL, TABLE, built, Scenario.load(path), Scenario.load(SMALL)]
    runs = [without_costs(evenkeel.run(it).json()) for it in given]
    assert len(set(runs)) == 1


def test_keys_are_attributes_and_items_with_the_defaults_of_the_file():
    scenario = Scenario(workload={"kind": "incast"})
    assert scenario.topology.kind == "leaf-spine"
    assert (scenario.topology.leaves, scenario.topology.host_rate) == (16, "400Gbps")
    assert scenario.policy.name == "ethereal"
    assert scenario.workload.kind == "incast"
    scenario.topology.leaves = 4
    scenario.topology["spines"] = 2
    assert scenario.to_dict()["topology"] == {"leaves": 4, "spines": 2}
    scenario.topology.leaves = None
    assert scenario.topology.leaves == 16
    with pytest.raises(AttributeError, match="Topology has no key 'leafs'"):
        scenario.topology.leafs


def test_defaults_of_sections_are_those_of_the_resolved_scenario():
    resolved = Scenario.load(evenkeel.check(Scenario()).scenario_toml).to_dict()
    compared = 0
    for name, keys in resolved.items():
        section = getattr(Scenario(), name)
        if not hasattr(section, "KEYS"):
            continue
        for key, value in keys.items():
            default = section.default(key) if key in section.KEYS else None
            # Defaults such as `auto` depend on other keys.
            if default not in (None, "auto"):
                assert default == value or str(value).startswith("0"), f"{name}.{key}"
                compared += 1
    assert compared > 12


def test_every_section_of_the_format_has_a_class_with_its_keys():
    format_keys = {}
    for key, *_ in _evenkeel.catalogue():
        section, _, name = key.partition(".")
        if name and "." not in name:
            format_keys.setdefault(section, {})[name] = None
    classes = {kind._section: kind for kind in Section.__subclasses__()}
    assert {name: list(kind.KEYS) for name, kind in classes.items()} == {
        name: list(keys) for name, keys in format_keys.items()
    }
    assert all(getattr(evenkeel, kind.__name__) is kind for kind in classes.values())


def test_keys_are_shown_by_help_and_as_keyword_arguments():
    signature = inspect.signature(Topology)
    assert list(signature.parameters) == list(Topology.KEYS)
    assert {it.kind for it in signature.parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert str(signature.parameters["leaves"]) == "leaves: 'Optional[int]' = None"
    # A Python keyword cannot be a parameter.
    assert [*inspect.signature(Failure).parameters][:2] == ["link", "switch"]
    text = pydoc.render_doc(Topology, renderer=pydoc.plaintext)
    assert "Topology(*, kind: 'Optional[str]' = None, gap" in text
    assert "leaves (whole number): Leaf switches. Default: 16. [leaf-spine]\n" in text


def test_a_misspelled_key_is_an_error_when_the_section_is_made():
    with pytest.raises(TypeError, match="Topology.*unexpected keyword argument 'leafs'"):
        Topology(leafs=4)
    assert Policy(name="plb", evs=4).to_dict() == {"name": "plb", "evs": 4}
    assert Job(**{"class": "bulk"})["class"] == "bulk"
    with pytest.raises(ScenarioError, match="'byts'; did you mean 'bytes'"):
        evenkeel.check(Scenario(workload=Workload(byts="1MB")))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_can_be_loaded_as_an_object(path, monkeypatch):
    import warnings

    monkeypatch.chdir(EXAMPLES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", evenkeel.EvenkeelWarning)
        mine, file = evenkeel.check(Scenario.load(path)), evenkeel.check(path.name)
    # Line numbers differ, because tables are written anew.
    mine, file = (re.sub(r"# line \d+", "# line", it.scenario_toml) for it in (mine, file))
    assert mine == file


def test_an_exception_has_file_place_and_key():
    text = '[topology]\nleaves = "many"\n'
    with pytest.raises(ScenarioError) as caught:
        evenkeel.check(text)
    error = caught.value
    assert (error.file, error.line, error.column) == ("scenario.toml", 2, 10)
    assert error.key == "topology.leaves"
    assert error.place == "scenario.toml:2:10"
    assert str(error).startswith("scenario.toml:2:10: ")
    assert isinstance(error, ValueError) and isinstance(error, evenkeel.EvenkeelError)


def test_messages_are_those_of_the_command_line(command_line, tmp_path):
    faults = [
        "[topology]\nleafs = 4\n",
        "[topology]\nleaves = 0\n",
        "leaves = 4\n",
        '[policy]\nname = "sprey"\n',
        '[workload]\nkind = "chakra"\n',
        '[workload]\nkind = "flows"\nfile = "absent.txt"\n',
        '[[failure]]\nlink = "leaf0-spine99"\n',
        "[topology\n",
        '[switch]\npfc = "maybe"\n',
    ]
    for index, text in enumerate(faults):
        path = tmp_path / f"fault-{index}.toml"
        path.write_text(text)
        with pytest.raises(ScenarioError) as ours:
            evenkeel.check(path)
        with pytest.raises(ValueError) as theirs:
            command_line("run", path)
        assert str(theirs.value) == f"error: {str(ours.value).rstrip()}\n"
        assert ours.value.file == str(path)


def test_keys_of_unknown_keys_and_names_are_told():
    for table, key in [
        ({"topology": {"leafs": 4}}, "topology.leafs"),
        ({"policy": {"name": "sprey"}}, "policy.name"),
        ({"leaves": 4}, "leaves"),
        ({"topology": {"leaves": 0}}, "topology.leaves"),
    ]:
        with pytest.raises(ScenarioError) as caught:
            evenkeel.check(table, name="mine")
        assert caught.value.key == key
        assert caught.value.file == "mine.toml"


def test_other_arguments_that_are_wrong_teach(tmp_path):
    for wrong, words in [
        (lambda: evenkeel.run(7), "expected a path, TOML text, a dict"),
        (lambda: evenkeel.run(tmp_path / "absent.toml"), "cannot be read"),
        (lambda: evenkeel.run(SMALL, policy=3), "evenkeel.SenderPolicy"),
        (lambda: evenkeel.run(SMALL, threads=0), "from 1 to 256"),
        (lambda: evenkeel.run(SMALL, seed=2**63), "seed"),
        (lambda: evenkeel.compare(SMALL, "ecmp"), "expected a list"),
        (lambda: evenkeel.compare(SMALL, ["ecmp", "ecmp"]), "repeated"),
        (lambda: evenkeel.compare(SMALL, ["ecmp"], baseline="spray"), "not compared"),
        (lambda: evenkeel.compare(SMALL, ["ecmp"], seeds=0), "at least 1"),
        (lambda: evenkeel.run({"topology": {1: 2}}), "expected a str as the key of a table"),
        (lambda: evenkeel.run({"topology": {"leaves": object()}}), "expected a str, int"),
        (lambda: evenkeel.run(SMALL, name="a/b"), "without folders"),
        (lambda: evenkeel.run("examples/incast-32.toml", name="x"), "its own name"),
        (lambda: evenkeel.bound("examples/rails-failure.toml"), "[[rail]]"),
        (lambda: evenkeel.hpcc(tmp_path / "absent.txt"), "does not exist"),
        (lambda: evenkeel.sweep("[[run]]\nname = 3\n"), "name"),
        (lambda: evenkeel.run(SMALL, progress=3), "expected a callable"),
        (lambda: evenkeel.plot(tmp_path), "no results"),
    ]:
        with pytest.raises(evenkeel.EvenkeelError) as caught:
            wrong()
        assert words in str(caught.value), str(caught.value)


def test_what_a_user_should_know_is_a_warning():
    text = SMALL.replace('name = "spray"', 'name = "flowlet"\ngap = "1us"')
    with pytest.warns(evenkeel.EvenkeelWarning, match="gap"):
        run = evenkeel.run(text, policy="ecmp")
    assert run.policy == "ecmp" and any("gap" in note for note in run.notes)


def test_keys_are_set_as_on_the_command_line(command_line, tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(SMALL)
    ours = evenkeel.run(path, set={"topology.leaves": 4, "workload.bytes": "64KB"})
    arguments = ["--set", "topology.leaves=4", "--set", "workload.bytes=64KB"]
    theirs = command_line("run", path, "--json", "--force", *arguments)
    assert without_costs(ours.json()) == without_costs(theirs)
    assert evenkeel.run(path, force=True).completed
    with pytest.raises(ScenarioError) as caught:
        evenkeel.check(path, set={"topology.leaves": "many"})
    assert caught.value.key == "topology.leaves"


def test_a_list_may_have_any_character():
    with pytest.raises(ScenarioError, match=r"\U00010400") as caught:
        evenkeel.check(SMALL, set={"workload": {"kind": "\U00010400\x7f\n\u2028"}})
    assert "kind" in str(caught.value)
    for key, value in [("kind", "\ud801"), ("\ud801", 1)]:
        with pytest.raises(evenkeel.ArgumentError, match="expected text without surrogates"):
            evenkeel.check(SMALL, set={"workload": {key: value}})


def test_paths_in_a_table_may_be_paths():
    table = {"workload": {"kind": "chakra", "file": pathlib.Path("examples/traces/ring-4")}}
    assert evenkeel.check({**table, "topology": {"leaves": 2, "hosts_per_leaf": 2}}).messages > 0


def test_failures_are_a_list_of_sections():
    scenario = Scenario.load(SMALL)
    scenario.failure.append(Failure(link="leaf0-spine0", at="1us", detection="1us"))
    scenario.policy = Policy(name="ecmp")
    assert evenkeel.run(scenario).packets.dropped > 0
