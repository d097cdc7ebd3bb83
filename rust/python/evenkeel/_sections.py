"""The sections of a scenario, one class each, with the keys of docs/scenario.md."""

from __future__ import annotations

from typing import Any, Optional

from ._section import Section


class Topology(Section, section="topology"):
    """``[topology]``."""


class Switch(Section, section="switch"):
    """``[switch]``."""


class Transport(Section, section="transport"):
    """``[transport]``."""


class Policy(Section, section="policy"):
    """``[policy]``: ``Policy("reps", buffer=16)``."""

    def __init__(self, name: Optional[str] = None, **parameters: Any) -> None:
        super().__init__(name=name, **parameters)


class TrafficClass(Section, section="class"):
    """``[[class]]``."""


class Workload(Section, section="workload"):
    """``[workload]``."""


class Job(Section, section="job"):
    """``[[job]]``."""


class Failure(Section, section="failure"):
    """``[[failure]]``."""


class Record(Section, section="record"):
    """``[record]``."""


class Hosts(Section, section="hosts"):
    """``[hosts]``."""


class Rail(Section, section="rail"):
    """``[[rail]]``."""


class Handler(Section, section="handler"):
    """``[handler]``."""
