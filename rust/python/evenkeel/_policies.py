"""Policies that are written in Python, for trying an idea.

They are slow, because each packet is a call. docs/own-policy.md shows how to port one to Rust.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Type, Union

from . import _evenkeel
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
from ._values import plain

__all__ = ["PolicyLike", "SenderPolicy", "SwitchPolicy"]


class SenderPolicy:
    """Chooses the entropy value of each packet of a queue pair: Rust's ``SenderPolicy``.

    A run creates one object per queue pair, with its context. Times are in picoseconds.
    """

    #: The preset whose sender policy this class replaces. The preset's switches, splitter and loss
    #: recovery remain.
    like: str = "spray"

    def __init__(self, qp: QpContext) -> None:
        """Initializes the policy of a queue pair; ``qp.random()`` is its random stream."""

    def entropy(self, now_ps: int) -> int:
        """Returns the entropy value of the next packet, from 0 to 65,535."""
        raise NotImplementedError(f"{type(self).__name__}.entropy")

    def choose(self, now_ps: int, free: PlaneMask) -> Optional[int]:
        """Returns the entropy value of the next packet of a NIC with several ports.

        Ports in the planes ``free`` are usable and idle now. ``None`` lets the packet wait for
        another port. The plane of a value is its remainder by ``qp.planes``. By default the packet
        takes the next value and waits for the port of its plane.
        """
        return self.entropy(now_ps)

    def handle_planes(self, now_ps: int, usable: PlaneMask) -> None:
        """Updates the set of planes by which packets reach the peer from now on."""

    def handle_feedback(self, now_ps: int, feedback: Feedback) -> None:
        """Processes the report of an acknowledgement on a packet."""

    def handle_timeout(self, now_ps: int, entropy: int) -> Optional[int]:
        """Processes the timeout of a packet; returns a path that the policy abandons, if any."""
        return None

    def next_probe(self) -> Optional[int]:
        """Returns the time of the next probe in ps, or ``None``. Must not change the state."""
        return None

    def poll_probe(self, now_ps: int) -> Optional[int]:
        """Returns the entropy value of a due probe; called until ``next_probe`` is later."""
        return None

    def handle_probe(self, now_ps: int, entropy: int, signal: str) -> None:
        """Processes the reply to a probe, whose signal is ``good`` or ``marked``."""

    def set_path(self, path: int) -> None:
        """Switches to the path that a splitter chose for the next message."""

    def handle_weights(self, weights: Sequence[int]) -> None:
        """Processes the weights of the paths after routing has converged (source routes only)."""

    def state_bits(self) -> int:
        """Returns the number of bits of state per queue pair that a NIC would have to store."""
        return 0


class SwitchPolicy:
    """Chooses one of several equal-cost ports for each packet: Rust's ``SwitchPolicy``.

    A run creates one object per switch, with its context. Times are in picoseconds.
    """

    #: The preset whose switch policy this class replaces. The preset's senders, splitter and loss
    #: recovery remain.
    like: str = "switch-random"

    def __init__(self, switch: SwitchContext) -> None:
        """Initializes the policy of a switch; ``switch.random()`` is its random stream."""

    def choose(self, now_ps: int, packet: Packet, view: SwitchView) -> int:
        """Returns the index of one of the ``view.candidates`` ports (at least two)."""
        raise NotImplementedError(f"{type(self).__name__}.choose")

    def detour(self, view: DetourView) -> Optional[int]:
        """Returns the detour of a packet of one of the switch's hosts in a torus or a dragonfly.

        The detour is the index of one of ``view.candidates`` switches of other groups; ``None``
        selects the minimal route.
        """
        return None

    def handle_departure(
        self, now_ps: int, packet: Packet, departure: Departure
    ) -> Optional[int]:
        """Processes a packet that leaves by a port; called only if a class defines it.

        Returns the value that the switch writes into ``packet.route``, the 16 bits for load
        balancing; ``None`` leaves them unchanged.
        """
        return None

    def state_size(self) -> Tuple[int, int]:
        """Returns the entries and bits of state that the switch would have to store."""
        return (0, 0)


#: Name of a preset, a preset with parameters (``Policy("reps", buffer=16)`` or a dict with its
#: name), a policy class, or ``functools.partial`` of a class with its parameters.
PolicyLike = Union[
    str, Mapping[str, Any], Type[SenderPolicy], Type[SwitchPolicy], "functools.partial[Any]"
]


@dataclass(frozen=True)
class Requested:
    """A policy in the form that the compiled part expects."""

    #: Preset; for a policy in Python, the one whose policy it replaces.
    name: str
    #: Parameters of the preset as TOML; empty without any.
    parameters: str
    #: Name in a comparison, with the parameters.
    label: str
    #: A policy in Python.
    custom: Optional[Dict[str, Any]]

    def request(self, label: str) -> Dict[str, Any]:
        """Returns the policy of a comparison with this label."""
        return {
            "name": self.name,
            "parameters": self.parameters,
            "label": label,
            "custom": self.custom,
        }


def requested(policy: PolicyLike, argument: str = "policy") -> Requested:
    """Reads a policy; errors name the argument."""
    if isinstance(policy, str):
        return Requested(policy, "", policy, None)
    if isinstance(policy, Mapping):
        parameters = plain(policy, argument)
        name = parameters.pop("name", None)
        if not isinstance(name, str):
            raise ArgumentError(
                f"{argument} = {dict(policy)!r}: expected the name of a policy, as in "
                'Policy("reps", buffer=16) or {"name": "reps", "buffer": 16}'
            )
        text = _evenkeel.toml_of_json(json.dumps(parameters)) if parameters else ""
        return Requested(name, text, _label(name, parameters), None)
    name, custom = custom_of(policy, argument)
    given = policy.keywords if isinstance(policy, functools.partial) else {}
    return Requested(name, "", _label(custom["name"], given), custom)


def _label(name: str, parameters: Mapping[str, Any]) -> str:
    """Returns a name that tells policies with different parameters apart: ``reps(buffer=16)``."""
    values = (f"{key}={it}" for key, it in parameters.items())
    return f"{name}({', '.join(values)})" if parameters else name


def custom_of(policy: Any, argument: str = "policy") -> Tuple[str, Dict[str, Any]]:
    """Returns the preset of a policy, and the policy as the compiled part expects it."""
    kind: Any = policy.func if isinstance(policy, functools.partial) else policy
    if not isinstance(kind, type) or not issubclass(kind, (SenderPolicy, SwitchPolicy)):
        raise ArgumentError(
            f"{argument} = {policy!r}: expected the name of a policy, evenkeel.Policy, a class "
            "that is derived from evenkeel.SenderPolicy or evenkeel.SwitchPolicy, or "
            "functools.partial of one"
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
