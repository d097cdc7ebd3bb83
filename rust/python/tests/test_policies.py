"""Policies in Python: equal to their built-in counterparts, and checked for errors."""

from __future__ import annotations

import functools
import itertools
import random

import pytest
from conftest import SMALL, without_costs

import evenkeel

TINY = SMALL.replace("256KB", "64KB")


class Spray(evenkeel.SenderPolicy):
    """The built-in `spray`."""

    def __init__(self, qp):
        self.random = qp.random()

    def entropy(self, now_ps):
        return self.random.next_u16()


class Shortest(evenkeel.SwitchPolicy):
    """Selects the shortest queue, and the first one in a tie."""

    def choose(self, now_ps, packet, view):
        return min(range(view.candidates), key=view.queue_bytes)


def results(run):
    """Returns all results except the names and sizes that a policy reports about itself."""
    values = run.to_dict()
    return {key: it for key, it in values.items() if key not in ("policy", "state")}


def same(ours, theirs):
    own, other = results(ours), results(theirs)
    for cost in ("wall_s", "peak_rss_bytes"):
        own.pop(cost), other.pop(cost)
    assert own == other
    assert ours.tables.flows.to_dict() == theirs.tables.flows.to_dict()


def test_a_sender_policy_gives_the_results_of_the_same_in_rust():
    run = evenkeel.run(TINY, policy=Spray)
    assert run.policy == "Spray"
    same(run, evenkeel.run(TINY, policy="spray"))


class Random(evenkeel.SwitchPolicy):
    """The built-in `switch-random`."""

    def __init__(self, switch):
        self.random = switch.random()

    def choose(self, now_ps, packet, view):
        return self.random.below(view.candidates)


def test_a_switch_policy_gives_the_results_of_the_same_in_rust():
    same(evenkeel.run(TINY, policy=Random), evenkeel.run(TINY, policy="switch-random"))


def test_a_switch_policy_sees_its_queues():
    shortest = evenkeel.run(TINY, policy=Shortest)
    anywhere = evenkeel.run(TINY, policy="switch-random")
    assert shortest.completed
    assert shortest.queue_bytes_mean < anywhere.queue_bytes_mean


def test_the_context_is_that_of_the_trait():
    contexts, feedbacks, views = [], [], []

    class Curious(evenkeel.SenderPolicy):
        def __init__(self, qp):
            contexts.append(qp)

        def entropy(self, now_ps):
            return now_ps // 1000 % 65536

        def handle_feedback(self, now_ps, feedback):
            feedbacks.append(feedback)

        def state_bits(self):
            return 17

    run = evenkeel.run(TINY, policy=Curious, repeat=False)
    assert len(contexts) == 8 * 7
    assert {qp.src for qp in contexts} == set(range(8)) and contexts[0].base_rtt_ps > 0
    assert sum(it.packets for it in feedbacks) == run.packets.delivered
    assert {it.signal for it in feedbacks} <= {"good", "marked", "nack"}
    assert all(it.rtt_ps > 0 for it in feedbacks)
    assert run.state.sender_bits_per_qp_max == 17

    class Looking(evenkeel.SwitchPolicy):
        def choose(self, now_ps, packet, view):
            views.append((view.candidates, view.port(0), view.rate_bps(1), packet.is_data))
            with pytest.raises(IndexError):
                view.port(view.candidates)
            return 0

        def handle_departure(self, now_ps, packet, departure):
            views.append(departure.port)

    evenkeel.run(TINY, policy=Looking, repeat=False)
    assert {it for it in views if isinstance(it, int)}
    assert {it[0] for it in views if not isinstance(it, int)} == {2}


def test_parameters_are_given_by_partial():
    class InTurn(evenkeel.SenderPolicy):
        def __init__(self, qp, turn=4):
            draw = qp.random()
            values = (draw.next_u16(), draw.next_u16())
            self.values = itertools.cycle(it for it in values for _ in range(turn))

        def entropy(self, now_ps):
            return next(self.values)

    one = evenkeel.run(TINY, policy=functools.partial(InTurn, turn=1))
    four = evenkeel.run(TINY, policy=InTurn)
    assert one.policy == four.policy == "InTurn"
    assert one.tables.flows.to_dict() != four.tables.flows.to_dict()


def test_a_comparison_takes_both_kinds():
    comparison = evenkeel.compare(TINY, ["ecmp", "spray", Spray, Shortest], seeds=2)
    assert [run.policy for run in comparison.runs][::2] == ["ecmp", "spray", "Spray", "Shortest"]
    built_in, own = comparison["spray"], comparison["Spray"]
    assert [it.cct_ns for it in built_in] == [it.cct_ns for it in own]


def test_a_policy_that_is_not_deterministic_is_found():
    class Dice(evenkeel.SenderPolicy):
        def entropy(self, now_ps):
            return random.randrange(65536)

    with pytest.raises(evenkeel.DeterminismError, match=r"entropy\(\) of the queue pair 0") as it:
        evenkeel.run(TINY, policy=Dice)
    assert "context's random()" in str(it.value)
    assert evenkeel.run(TINY, policy=Dice, repeat=False).completed

    class Remembers(evenkeel.SwitchPolicy):
        calls = itertools.count()

        def choose(self, now_ps, packet, view):
            return int(next(self.calls) > 50)

    with pytest.raises(evenkeel.DeterminismError, match=r"choose\(\) of switch"):
        evenkeel.run(TINY, policy=Remembers)


def test_an_exception_of_a_policy_ends_the_run():
    class Wrong(evenkeel.SenderPolicy):
        def entropy(self, now_ps):
            raise LookupError("no such path")

    with pytest.raises(LookupError, match="no such path"):
        evenkeel.run(TINY, policy=Wrong)

    class TooLarge(evenkeel.SenderPolicy):
        def entropy(self, now_ps):
            return 65536

    with pytest.raises(OverflowError):
        evenkeel.run(TINY, policy=TooLarge)

    class Beyond(evenkeel.SwitchPolicy):
        def choose(self, now_ps, packet, view):
            return view.candidates

    with pytest.raises(ValueError, match="index of one of 2"):
        evenkeel.run(TINY, policy=Beyond)

    class Unfinished(evenkeel.SwitchPolicy):
        pass

    with pytest.raises(NotImplementedError, match="Unfinished.choose"):
        evenkeel.run(TINY, policy=Unfinished)


def test_runs_without_packets_and_of_rails_ask_no_policy():
    fluid = TINY.replace("[topology]", 'fidelity = "fluid"\n[topology]', 1)
    with pytest.raises(evenkeel.ArgumentError, match="fluid"):
        evenkeel.run(fluid, policy=Spray)
    with pytest.raises(evenkeel.EvenkeelError, match="spray"):
        evenkeel.run("examples/rails-failure.toml", policy=Spray)


def test_random_streams_are_those_of_rust():
    drawn = []

    class Draws(evenkeel.SenderPolicy):
        def __init__(self, qp):
            stream = qp.random()
            drawn.append([stream.next_u32(), stream.next_u16(), stream.below(10)])
            assert qp.random().next_u32() == drawn[-1][0]
            assert stream.chance(1, 1) and not stream.chance(0, 1)
            with pytest.raises(ValueError, match="expected at least 1"):
                stream.below(0)

        def entropy(self, now_ps):
            return 0

    evenkeel.run(TINY, policy=Draws, repeat=False)
    again = drawn[:]
    drawn.clear()
    evenkeel.run(TINY, policy=Draws, repeat=False)
    assert again == drawn and len({tuple(it) for it in drawn}) > 50
    assert without_costs(evenkeel.run(TINY).json())
