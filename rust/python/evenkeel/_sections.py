"""The sections of a scenario, one class each, with the keys of docs/scenario.md."""

from __future__ import annotations

from typing import Any, Optional

from ._section import Section


class Topology(Section, section="topology"):
    """The fabric: ``[topology]``.

    Example: Topology(kind="leaf-spine", leaves=4, spines=4, hosts_per_leaf=8, host_rate="400Gbps")
    """


class Switch(Section, section="switch"):
    """Buffers, marking, pauses and trimming: ``[switch]``.

    Example: Switch(ecn={"kmin": "100KB", "kmax": "400KB", "pmax": "1/5"}, trim=True)
    """


class Transport(Section, section="transport"):
    """NICs, congestion control and loss recovery: ``[transport]``.

    Example: Transport(congestion_control="nscc", payload="4096B")
    """


class Policy(Section, section="policy"):
    """The policy of load balancing: ``[policy]``.

    Example: Policy("reps", buffer=16)
    """

    def __init__(self, name: Optional[str] = None, **parameters: Any) -> None:
        super().__init__(name=name, **parameters)


class TrafficClass(Section, section="class"):
    """A traffic class of switches: ``[[class]]``.

    Example: TrafficClass(name="bulk", weight=3)
    """


class Workload(Section, section="workload"):
    """The messages: ``[workload]``.

    Example: Workload(kind="all-to-all", bytes="16MB")
    """


class Job(Section, section="job"):
    """One of several workloads: ``[[job]]``.

    Example: Job(name="training", kind="ring-all-reduce", bytes="64MB", hosts="0..16")
    """


class Failure(Section, section="failure"):
    """A failure: ``[[failure]]``.

    Example: Failure(link="leaf0-spine0", kind="degrade", factor="1/4", at="10us", until="1ms")
    """


class Record(Section, section="record"):
    """A recording of time series: ``[record]``.

    Example: Record(every="1us")
    """


class Hosts(Section, section="hosts"):
    """The hosts of a scenario with several rails: ``[hosts]``.

    Example: Hosts(count=16)
    """


class Rail(Section, section="rail"):
    """A rail: ``[[rail]]``.

    Example: Rail(kind="rdma", rate="100Gbps")
    """


class Handler(Section, section="handler"):
    """Reactions to failures of rails: ``[handler]``.

    Example: Handler()
    """
