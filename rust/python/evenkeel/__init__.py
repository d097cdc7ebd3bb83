"""evenkeel: simulates load balancing in AI-training networks.

    >>> import evenkeel
    >>> run = evenkeel.run("examples/incast-32.toml", policy="spray")
    >>> run.cct_ns, run.fct_ns.p99
    >>> polars.DataFrame(run.tables.flows)

docs/python.md documents the whole package.
"""

from __future__ import annotations

from ._api import bound, check, compare, hpcc, points, qps, run, sweep
# `list` is not in `__all__`, so that `from evenkeel import *` leaves Python's own.
from ._commands import explain, export, import_, list as list, report, trace
from ._errors import (
    ArgumentError,
    DeterminismError,
    EvenkeelError,
    EvenkeelWarning,
    ExperimentError,
    Interrupted,
    ResultsError,
    ScenarioError,
    StudyError,
)
from ._evenkeel import (
    VERSION as __version__,
    Departure,
    DetourView,
    Feedback,
    Packet,
    PlaneMask,
    QpContext,
    Random,
    RouteLoad,
    SwitchContext,
    SwitchView,
    Table,
)
from ._policies import SenderPolicy, SwitchPolicy
from ._progress import Progress
from ._results import (
    Bound,
    Check,
    Comparison,
    Figure,
    Figures,
    Qps,
    RailRun,
    Run,
    Sweep,
    Tables,
    plot,
)
from ._scenario import Scenario
from ._sections import (
    Failure,
    Handler,
    Hosts,
    Job,
    Policy,
    Rail,
    Record,
    Switch,
    Topology,
    TrafficClass,
    Transport,
    Workload,
)
from ._summary import RailSummary, Summary

__all__ = [
    "ArgumentError",
    "Bound",
    "Check",
    "Comparison",
    "Departure",
    "DeterminismError",
    "DetourView",
    "EvenkeelError",
    "EvenkeelWarning",
    "ExperimentError",
    "Failure",
    "Feedback",
    "Figure",
    "Figures",
    "Handler",
    "Hosts",
    "Interrupted",
    "Job",
    "Packet",
    "PlaneMask",
    "Policy",
    "Progress",
    "QpContext",
    "Qps",
    "Rail",
    "RailRun",
    "RailSummary",
    "Random",
    "Record",
    "ResultsError",
    "RouteLoad",
    "Run",
    "Scenario",
    "ScenarioError",
    "SenderPolicy",
    "StudyError",
    "Summary",
    "Sweep",
    "Switch",
    "SwitchContext",
    "SwitchPolicy",
    "SwitchView",
    "Table",
    "Tables",
    "Topology",
    "TrafficClass",
    "Transport",
    "Workload",
    "__version__",
    "bound",
    "check",
    "compare",
    "explain",
    "export",
    "hpcc",
    "import_",
    "plot",
    "points",
    "qps",
    "report",
    "run",
    "sweep",
    "trace",
]
