"""Numbers of NumPy are accepted wherever numbers are, and errors name the parameter."""

from __future__ import annotations

import pytest
from conftest import SMALL

import evenkeel
from evenkeel import Failure, Policy, Scenario, Topology, Transport, Workload

numpy = pytest.importorskip("numpy")


def test_sections_take_numbers_and_truth_values_of_numpy():
    def scenario(whole, real, truth):
        return Scenario(
            seed=whole(7),
            topology=Topology(leaves=whole(2), spines=whole(2), hosts_per_leaf=whole(4)),
            transport=Transport(ack_every=whole(2), ack_priority=truth(True)),
            workload=Workload(kind="all-to-all", bytes="64KB"),
            policy=Policy("reps", buffer=whole(4)),
            failure=[Failure(link="leaf0-spine0", kind="loss", rate=real(0.25))],
        )

    plain = scenario(int, float, bool)
    for whole, real in [(numpy.int64, numpy.float64), (numpy.uint16, numpy.float32)]:
        other = scenario(whole, real, numpy.bool_)
        assert other.to_toml() == plain.to_toml()
        assert evenkeel.run(other).cct_ns == evenkeel.run(plain).cct_ns


def test_arguments_take_numbers_and_truth_values_of_numpy(tmp_path):
    two, yes = numpy.int64(2), numpy.bool_(True)
    settings = {"topology.leaves": two, "switch.pfc": yes, "transport.ack_every": numpy.int8(1)}
    run = evenkeel.run(SMALL, seed=two, set=settings, threads=two, check=yes, force=yes)
    assert run.seed == 2 and run.hosts == 8 and run.violations == []
    policies = [Policy("reps", buffer=two)]
    comparison = evenkeel.compare(SMALL, policies, seeds=two, jobs=two, seed=two)
    assert [it.seed for it in comparison.runs] == [2, 3]
    assert comparison.runs[0].policy == "reps(buffer=2)"
    study = {
        "scenario": {
            "topology": {"leaves": two, "spines": two, "hosts_per_leaf": two},
            "workload": {"kind": "all-to-all", "bytes": "64KB"},
        },
        "run": [
            {
                "name": "a",
                "seeds": two,
                "over": {"transport.ack_every": numpy.arange(1, 3), "switch.pfc": [yes]},
            }
        ],
    }
    sweep = evenkeel.sweep(study, jobs=two, out=tmp_path / "sweep")
    assert sweep.table["transport.ack_every"] == [1, 1, 2, 2] and not sweep.errors
    assert sweep.plot(size=(numpy.float32(400), two * 150))
    assert evenkeel.check(SMALL, seed=numpy.uint8(3)).seed == 3


class Random(evenkeel.SenderPolicy):
    def __init__(self, qp):
        self.random = numpy.random.default_rng(qp.random().next_u32())

    def entropy(self, now_ps):
        return self.random.integers(65536)


def test_policies_return_numbers_of_numpy():
    assert evenkeel.run(SMALL, policy=Random).completed


def test_lists_and_tables_are_values_of_set():
    failure = [{"link": "leaf0-spine0", "kind": "loss", "rate": numpy.float64(0.1)}]
    run = evenkeel.run(SMALL, set={"failure": failure, "policy": {"name": "reps", "buffer": 4}})
    assert run.failures[0].link == "leaf0-spine0" and run.policy == "reps"
    assert evenkeel.run(SMALL, set={"seed": numpy.int64(4)}).seed == 4


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"seed": 1.5}, r"seed = 1.5: expected a whole number of at least 0, not float"),
        ({"seed": -1}, r"seed = -1: expected a whole number of at least 0"),
        ({"seed": True}, r"seed = True: expected a whole number"),
        ({"threads": "2"}, r"threads = '2': expected a whole number from 1 to 256, not str"),
        ({"threads": 257}, r"threads = 257: expected a whole number from 1 to 256"),
        ({"force": "yes"}, r"force = 'yes': expected True or False, not str"),
        ({"check": 1}, r"check = 1: expected True or False, not int"),
        ({"out": 3}, r"out = 3: expected a path, not int"),
        ({"trace": 3.0}, r"trace = 3.0: expected a path, not float"),
        ({"set": {"topology.leaves": object}}, r"set: topology.leaves = .*expected a str, int"),
        ({"set": {"topology.leaves": float("nan")}}, r"set: topology.leaves = nan: expected a fin"),
        ({"set": {"topology.leaves": 2**70}}, r"set: topology.leaves = 1180.*below 2\^63"),
        ({"set": {"topology.leaves": 2.5}}, r"topology.leaves"),
        ({"set": 3}, r"set = 3: expected a dict"),
        ({"policy": 3}, r"policy = 3: expected the name of a policy"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    with pytest.raises(ValueError, match=message):
        evenkeel.run(SMALL, **arguments)


WRONG = [
    (lambda run: evenkeel.run(3), "scenario = 3: expected a path, TOML text, a dict or"),
    (lambda run: evenkeel.run(SMALL, name=3), "name = 3: expected a str, not int"),
    (lambda run: evenkeel.run(SMALL, set={1: 2}), "set = 1: expected a str, not int"),
    (lambda run: evenkeel.sweep(3), "study = 3: expected a path, TOML text or a dict, not int"),
    (lambda run: evenkeel.hpcc(3), "config = 3: expected a path"),
    (lambda run: evenkeel.hpcc("x", lb=3), "lb = 3: expected a str, not int"),
    (lambda run: run.plot(metric=3), "metric = 3: expected a str, not int"),
    (lambda run: run.plot(title=3), "title = 3: expected a str, not int"),
    (lambda run: run.plot(order=3), "order = 3: expected a list, not int"),
    (lambda run: run.plot(size=3), "size = 3: expected width and height"),
    (lambda run: run.save(3), "folder = 3: expected a path, not int"),
    (lambda run: run.plot()[0].save(3), "path = 3: expected a path, not int"),
    (lambda run: Scenario(topology=3), "topology = 3: expected evenkeel.Topology or a dict"),
    (lambda run: Scenario(failure=3), "failure = 3: expected a list of evenkeel.Failure"),
    (lambda run: Scenario(failure=[3]), "failure = 3: expected evenkeel.Failure or a dict"),
]


@pytest.mark.parametrize("call, message", WRONG)
def test_errors_of_other_functions_name_the_argument(call, message):
    with pytest.raises(evenkeel.ArgumentError, match=message):
        call(evenkeel.run(SMALL))


def test_errors_name_the_key():
    with pytest.raises(evenkeel.ArgumentError, match=r"topology\.leaves = \{1\}: expected a str"):
        evenkeel.run(Scenario(topology=Topology(leaves={1})))
    with pytest.raises(evenkeel.ArgumentError, match=r"failure\[0\]\.at = 1j: expected"):
        evenkeel.run(Scenario(failure=[Failure(at=1j)]))
    with pytest.raises(evenkeel.ScenarioError, match=r"topology\.leaves: .*expected"):
        evenkeel.run(Scenario(topology=Topology(leaves=numpy.str_("four"))))
    with pytest.raises(evenkeel.ArgumentError, match=r"seeds = 0: expected a whole number"):
        evenkeel.compare(SMALL, ["ecmp"], seeds=0)
    with pytest.raises(evenkeel.ArgumentError, match=r"jobs = .*2\.0.*: expected a whole number"):
        evenkeel.sweep({"run": []}, jobs=numpy.float64(2))
    with pytest.raises(evenkeel.ArgumentError, match="out = 3: expected a path"):
        evenkeel.sweep({"run": []}, out=3)
    with pytest.raises(evenkeel.ArgumentError, match="results: int: expected a Run"):
        evenkeel.plot(3)
    assert evenkeel.run(SMALL, set={"topology.leaves": "2"}).hosts == 8
