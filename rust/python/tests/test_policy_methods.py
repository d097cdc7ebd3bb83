"""Policies in Python that use rare features: planes, probes, detours and packet fields."""

from __future__ import annotations

import copy

import pytest
from conftest import EXAMPLES, SMALL
from test_policies import Random, same

import evenkeel

PLANES = (EXAMPLES / "plane-jsq.toml").read_text(encoding="utf-8").replace("8MiB", "512KiB")
DRAGONFLY = (EXAMPLES / "dragonfly.toml").read_text(encoding="utf-8").replace("1MiB", "64KiB")


class PlaneJsq(evenkeel.SenderPolicy):
    """The built-in `plane-jsq`."""

    like = "plane-jsq"

    def __init__(self, qp):
        self.planes = qp.planes
        self.random = qp.random()
        self.turn = self.random.next_u16() % self.planes

    def entropy(self, now_ps):
        return self.random.next_u16()

    def choose(self, now_ps, free):
        plane = free.next_from(self.turn)
        if plane is None:
            return None
        self.turn = (plane + 1) % self.planes
        return self.random.below(65535 // self.planes) * self.planes + plane



def test_free_planes_are_offered_as_to_a_policy_in_rust():
    same(evenkeel.run(PLANES, policy=PlaneJsq), evenkeel.run(PLANES, policy="plane-jsq"))


def test_a_policy_may_take_the_next_free_plane_as_spray_does():
    class Spray(evenkeel.SenderPolicy):
        def __init__(self, qp):
            self.planes = qp.planes
            self.random = qp.random()

        def entropy(self, now_ps):
            return self.random.next_u16()

        def choose(self, now_ps, free):
            value = self.random.next_u16()
            plane = value % self.planes
            return value - plane + free.next_from(plane)

    same(evenkeel.run(PLANES, policy=Spray), evenkeel.run(PLANES, policy="spray"))


def test_a_policy_without_a_choice_of_planes_waits_for_the_port_of_its_value():
    class One(evenkeel.SenderPolicy):
        def __init__(self, qp):
            self.value = qp.random().next_u16()

        def entropy(self, now_ps):
            return self.value

    waiting = evenkeel.run(PLANES, policy=One)
    assert waiting.cct_ns > 1.5 * evenkeel.run(PLANES, policy="spray").cct_ns


def test_a_set_of_planes():
    planes = evenkeel.PlaneMask(0b1101)
    assert (list(planes), len(planes), planes.bits) == ([0, 2, 3], 3, 13)
    assert 2 in planes and 1 not in planes and 99 not in planes
    assert [planes.nth(it) for it in range(4)] == [0, 2, 3, None]
    assert [planes.next_from(it) for it in (1, 3, 4, 99)] == [2, 3, 0, 0]
    assert evenkeel.PlaneMask(0).next_from(0) is None and not evenkeel.PlaneMask(0)
    assert copy.deepcopy(planes) == planes and repr(planes) == "PlaneMask(0b1101)"


class Probing(evenkeel.SenderPolicy):
    """Cycles through eight values and probes them; skips a value whose probe gets no reply."""

    every_ps = 3_000_000

    def __init__(self, qp):
        draw = qp.random()
        self.values = [draw.next_u16() for _ in range(8)]
        self.unanswered = set()
        self.sent = self.probed = 0
        self.due = self.every_ps

    def entropy(self, now_ps):
        usable = [it for it in self.values if it not in self.unanswered] or self.values
        self.sent += 1
        return usable[self.sent % len(usable)]

    def next_probe(self):
        return self.due

    def poll_probe(self, now_ps):
        self.due = now_ps + self.every_ps
        self.probed += 1
        value = self.values[self.probed % 8]
        self.unanswered.add(value)
        return value

    def handle_probe(self, now_ps, entropy, signal):
        self.unanswered.discard(entropy)


def noted(times, replies):
    """`Probing`, with lists of its probes and their replies."""

    class Noted(Probing):
        def poll_probe(self, now_ps):
            assert now_ps >= self.due
            value = super().poll_probe(now_ps)
            times.append((id(self), now_ps, value))
            return value

        def handle_probe(self, now_ps, entropy, signal):
            super().handle_probe(now_ps, entropy, signal)
            replies.append((id(self), now_ps, entropy, signal))

    return Noted


def test_a_policy_probes_when_it_says_and_hears_the_replies():
    probes, replies = [], []
    run = evenkeel.run(SMALL, policy=noted(probes, replies), repeat=False)
    assert run.completed and len(replies) > 50
    assert {signal for _, _, _, signal in replies} <= {"good", "marked"}
    asked = {(owner, value) for owner, _, value in probes}
    answered = {(owner, value) for owner, _, value, _ in replies}
    first = {(owner, value) for owner, at, value in probes if at == Probing.every_ps}
    assert len(first) == 8 * 7, "each is sent at the time that it is due"
    assert first <= answered <= asked, "nothing fails"
    assert evenkeel.run(SMALL, policy=Probing).fct_ns.p99 == run.fct_ns.p99, "it is deterministic"


def test_probes_over_a_link_that_fails_are_not_answered():
    failing = SMALL.replace("256KB", "2MB") + '\n[transport]\nretransmit_timeout = "50us"\n'
    failing += '[[failure]]\nlink = "leaf0-spine1"\nat = "0us"\nconvergence = "never"\n'
    probes, replies = [], []
    run = evenkeel.run(failing, policy=noted(probes, replies), repeat=False)
    assert run.completed
    answered = {(owner, value) for owner, _, value, _ in replies}
    silent = {(owner, value) for owner, _, value in probes} - answered
    assert len(silent) > 20 and answered
    spray = evenkeel.run(failing, policy="spray")
    assert run.packets.dropped < spray.packets.dropped / 2, (run, spray)


@pytest.mark.parametrize("answer", [None, 7])
def test_probes_that_would_never_end_are_an_error(answer):
    class Endless(evenkeel.SenderPolicy):
        def entropy(self, now_ps):
            return 0

        def next_probe(self):
            return 0

        def poll_probe(self, now_ps):
            return answer

    with pytest.raises(ValueError, match=r"poll_probe\(\) returned .* is later"):
        evenkeel.run(SMALL, policy=Endless)


class Valiant(Random):
    """The built-in `valiant`."""

    def detour(self, view):
        return self.random.below(view.candidates)


class Ugal(evenkeel.SwitchPolicy):
    """The built-in `ugal`: the shortest queue, random ties, and a detour if that is shorter."""

    like = "ugal"

    def __init__(self, switch):
        self.random = switch.random()

    def choose(self, now_ps, packet, view):
        queues = [view.queue_bytes(it) for it in range(view.candidates)]
        least = [it for it, queue in enumerate(queues) if queue == min(queues)]
        return least[self.random.below(len(least))] if len(least) > 1 else least[0]

    def detour(self, view):
        candidate = self.random.below(view.candidates)
        with pytest.raises(IndexError):
            view.by(view.candidates)
        return candidate if view.minimal.cost > view.by(candidate).cost else None


def test_detours_are_those_of_policies_in_rust():
    valiant = evenkeel.run(DRAGONFLY, policy=Valiant)
    same(valiant, evenkeel.run(DRAGONFLY, policy="valiant"))
    minimal = evenkeel.run(DRAGONFLY, policy=Random)
    same(minimal, evenkeel.run(DRAGONFLY, policy="switch-random"))
    assert valiant.cct_ns < minimal.cct_ns
    assert evenkeel.run(DRAGONFLY, policy=Ugal).cct_ns < minimal.cct_ns


def test_a_detour_is_one_of_the_candidates():
    class Beyond(Random):
        def detour(self, view):
            return view.candidates

    with pytest.raises(ValueError, match=r"detour\(\) returned 32; expected the index of one"):
        evenkeel.run(DRAGONFLY, policy=Beyond)

    class Writes(Valiant):
        def handle_departure(self, now_ps, packet, departure):
            return 1

    with pytest.raises(ValueError, match=r"expected None"):
        evenkeel.run(DRAGONFLY, policy=Writes)


def test_a_switch_writes_into_packets_what_others_read():
    read = []

    class Stamps(Random):
        def __init__(self, switch):
            super().__init__(switch)
            self.id = switch.id

        def handle_departure(self, now_ps, packet, departure):
            if departure.source_edge == self.id != departure.destination_edge:
                return 1000 + self.id
            if departure.destination_edge == self.id != departure.source_edge:
                read.append((packet.route, departure.source_edge))
            return None

    evenkeel.run(SMALL, policy=Stamps, repeat=False)
    assert read and all(route == 1000 + edge for route, edge in read)


def test_contexts_can_be_copied_with_a_policy_that_keeps_them():
    kept = []

    class Keeps(evenkeel.SenderPolicy):
        def __init__(self, qp):
            kept.append(qp)

        def entropy(self, now_ps):
            return 0

    evenkeel.run(PLANES, policy=Keeps, repeat=False)
    assert copy.deepcopy(kept[0]).key == kept[0].key and kept[0].planes == 2
