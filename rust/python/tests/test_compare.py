"""Comparisons of policies with parameters, and of policies under names of the caller."""

from __future__ import annotations

import functools

import pytest
from conftest import SMALL

import evenkeel
from evenkeel import Policy


class InTurn(evenkeel.SenderPolicy):
    def __init__(self, qp, step=1):
        self.step, self.next = step, 0

    def entropy(self, now_ps):
        self.next = (self.next + self.step) % 65536
        return self.next


def test_policies_with_parameters_have_labels_that_tell_them_apart():
    policies = ["reps", Policy("reps", buffer=2), {"name": "reps", "buffer": 4, "reuse": 2}]
    comparison = evenkeel.compare(SMALL, policies, seeds=2)
    labels = ["reps", "reps(buffer=2)", "reps(buffer=4, reuse=2)"]
    assert [run.policy for run in comparison.runs[::2]] == labels
    assert sorted(set(comparison.statistics["policy"])) == sorted(labels)
    assert all(label in str(comparison) for label in labels)
    assert len(comparison["reps(buffer=2)"]) == 2
    series = {it for figure in comparison.plot() for it in [*figure.data["series"], figure.svg]}
    assert all(any(label in text for text in series) for label in labels)
    # Each run is that of the scenario with these parameters.
    with_parameters = SMALL.replace('name = "spray"', 'name = "reps"\nbuffer = 4\nreuse = 2')
    expected = evenkeel.run(with_parameters)
    assert comparison[labels[2]][0].events == expected.events
    assert evenkeel.run(SMALL, policy=policies[2]).events == expected.events
    assert evenkeel.qps(SMALL, policy=Policy("subflow-4")).qps.total > 0


def test_a_dict_gives_names_of_the_caller():
    policies = {
        "small": Policy("reps", buffer=2),
        "one": functools.partial(InTurn, step=1),
        "three": functools.partial(InTurn, step=3),
    }
    comparison = evenkeel.compare(SMALL, policies, seeds=1, baseline="one")
    assert [run.policy for run in comparison.runs] == list(policies)
    assert set(comparison.statistics["reference"]) <= {"one", ""}
    unnamed = evenkeel.compare(SMALL, list(policies.values()), seeds=1)
    labels = ["reps(buffer=2)", "InTurn(step=1)", "InTurn(step=3)"]
    assert [run.policy for run in unnamed.runs] == labels


def test_parameters_of_the_file_s_own_policy_remain():
    reps = SMALL.replace('name = "spray"', 'name = "reps"\nbuffer = 2')
    comparison = evenkeel.compare(reps, ["reps", Policy("reps", reuse=2)], seeds=1)
    whole = reps.replace("buffer = 2", "buffer = 2\nreuse = 2")
    assert comparison.runs[1].events == evenkeel.run(whole).events


@pytest.mark.parametrize(
    "policies, message",
    [
        ([Policy("reps", bufer=2)], r"\[policy\] has no key 'bufer'; did you mean 'buffer'"),
        ([{"name": "sprey"}], "did you mean 'spray'"),
        ([{"buffer": 2}], r"policies\[0\] = .*expected the name of a policy"),
        (["ecmp", 3], r"policies\[1\] = 3: expected the name of a policy"),
        ([Policy("reps", buffer=2), Policy("reps", buffer=2)], "is repeated; .*or a dict from"),
        (Policy("reps"), "expected a list of policies"),
        ("ecmp", "expected a list of policies"),
        ({"": "ecmp"}, "expected a name as the label"),
        ([], "none; expected a list of policies"),
    ],
)
def test_errors_name_the_policy(policies, message):
    with pytest.raises(ValueError, match=message):
        evenkeel.compare(SMALL, policies)


def test_rails_take_names_of_allocators():
    with pytest.raises(evenkeel.ArgumentError, match="takes names of allocators"):
        evenkeel.compare("examples/rails-failure.toml", [Policy("nezha", x=1)])
    with pytest.raises(evenkeel.ArgumentError, match="takes the name of an allocator"):
        evenkeel.run("examples/rails-failure.toml", policy=Policy("nezha", x=1))
    with pytest.raises(evenkeel.ArgumentError, match="label 'mine' of nezha: .*has no labels"):
        evenkeel.compare("examples/rails-failure.toml", {"mine": "nezha"}, baseline="mine")
    labelled = evenkeel.compare("examples/rails-failure.toml", {"nezha": "nezha"})
    assert [run.policy for run in labelled.runs] == ["nezha"]
