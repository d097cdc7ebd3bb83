"""Policies that are written in Python, for trying an idea.

They are slow: each packet is a call. docs/python.md shows how the same is then written in Rust.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, Type, Union

from ._errors import ArgumentError
from ._evenkeel import (
    Departure,
    DetourView,
    Feedback,
    Packet,
    PlaneMask,
    QpContext,
    SwitchContext,
    SwitchView,
)

__all__ = ["PolicyLike", "SenderPolicy", "SwitchPolicy"]


class SenderPolicy:
    """Chooses the entropy value of each packet of a queue pair: ``SenderPolicy`` of Rust.

    A run makes one object for each queue pair, with its context. Times are picoseconds.
    """

    #: The preset that the policy is put into: its switches, its splitter and its loss recovery
    #: hold, and this class takes the place of its sender policy.
    like: str = "spray"

    def __init__(self, qp: QpContext) -> None:
        """Begins with a queue pair; ``qp.random()`` is its random stream."""

    def entropy(self, now_ps: int) -> int:
        """The entropy value of the next packet, from 0 to 65,535."""
        raise NotImplementedError(f"{type(self).__name__}.entropy")

    def choose(self, now_ps: int, free: PlaneMask) -> Optional[int]:
        """The entropy value of the next packet of a NIC with several ports, of which those in the
        planes ``free`` are usable and free now; ``None`` if it is to wait for another one.

        The plane of a value is its remainder by ``qp.planes``. By default the packet takes the next
        value and waits for the port of its plane.
        """
        return self.entropy(now_ps)

    def handle_planes(self, now_ps: int, usable: PlaneMask) -> None:
        """Learns by which planes packets reach the peer from now on."""

    def handle_feedback(self, now_ps: int, feedback: Feedback) -> None:
        """Processes the report of an acknowledgement on a packet."""

    def handle_timeout(self, now_ps: int, entropy: int) -> Optional[int]:
        """Processes the time-out of a packet; returns a path that the policy abandons, if any."""
        return None

    def next_probe(self) -> Optional[int]:
        """When the next probe is due, in ps; ``None`` if none is. It changes nothing."""
        return None

    def poll_probe(self, now_ps: int) -> Optional[int]:
        """The entropy value of the probe that is due; asked until ``next_probe`` is later."""
        return None

    def handle_probe(self, now_ps: int, entropy: int, signal: str) -> None:
        """Processes the reply to a probe, whose signal is ``good`` or ``marked``."""

    def set_path(self, path: int) -> None:
        """Moves to the path that a splitter chose for the next message."""

    def handle_weights(self, weights: Sequence[int]) -> None:
        """Processes the weights of the paths after routing has converged (source routes only)."""

    def state_bits(self) -> int:
        """The state of a queue pair that a NIC would have to store, in bits."""
        return 0


class SwitchPolicy:
    """Chooses one of several equal-cost ports for each packet: ``SwitchPolicy`` of Rust.

    A run makes one object for each switch, with its context. Times are picoseconds.
    """

    #: The preset that the policy is put into: its senders, its splitter and its loss recovery
    #: hold, and this class takes the place of its switch policy.
    like: str = "switch-random"

    def __init__(self, switch: SwitchContext) -> None:
        """Begins with a switch; ``switch.random()`` is its random stream."""

    def choose(self, now_ps: int, packet: Packet, view: SwitchView) -> int:
        """The index of one of ``view.candidates`` ports, of which there are at least two."""
        raise NotImplementedError(f"{type(self).__name__}.choose")

    def detour(self, view: DetourView) -> Optional[int]:
        """Where a packet of one of the switch's hosts goes first in a torus or a dragonfly: the
        index of one of ``view.candidates`` switches of other groups; ``None`` for its minimal route.
        """
        return None

    def handle_departure(
        self, now_ps: int, packet: Packet, departure: Departure
    ) -> Optional[int]:
        """Processes a packet that leaves by a port; called if a class defines it.

        Returns what the switch writes into ``packet.route``, the 16 bits for load balancing;
        ``None`` leaves them as they are.
        """
        return None

    def state_size(self) -> Tuple[int, int]:
        """Entries and bits of the state that the switch would have to store."""
        return (0, 0)


#: The name of a preset, a class of a policy, or ``functools.partial`` of one with its parameters.
PolicyLike = Union[str, Type[SenderPolicy], Type[SwitchPolicy], "functools.partial[Any]"]


def custom_of(policy: Callable[..., Any]) -> Tuple[str, Dict[str, Any]]:
    """The preset that a policy is put into, and the policy as the compiled part takes it."""
    kind: Any = policy.func if isinstance(policy, functools.partial) else policy
    if not isinstance(kind, type) or not issubclass(kind, (SenderPolicy, SwitchPolicy)):
        raise ArgumentError(
            f"policy = {policy!r}: expected the name of a policy, a class that is derived from "
            "evenkeel.SenderPolicy or evenkeel.SwitchPolicy, or functools.partial of one"
        )
    is_sender = issubclass(kind, SenderPolicy)
    base: type = SenderPolicy if is_sender else SwitchPolicy
    methods = [it for it in vars(base) if callable(getattr(base, it)) and it[0] != "_"]
    custom = {
        "kind": "sender" if is_sender else "switch",
        "name": kind.__name__,
        "factory": policy,
        "methods": {it for it in methods if getattr(kind, it) is not getattr(base, it)},
    }
    return kind.like, custom
