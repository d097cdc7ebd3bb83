"""The exceptions of the package. Their messages are those of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Tuple, Union

if TYPE_CHECKING:
    from ._results import Comparison, Sweep

__all__ = [
    "ArgumentError",
    "DeterminismError",
    "EvenkeelError",
    "EvenkeelWarning",
    "ExperimentError",
    "Interrupted",
    "ResultsError",
    "ScenarioError",
    "StudyError",
]


class EvenkeelError(Exception):
    """The base of all exceptions. Its attributes give the position of the error if known."""

    #: The file as given, or the name of a text or a table (``scenario.toml``).
    file: Optional[str]
    #: The line, from 1; for a table, the line of the equivalent TOML text.
    line: Optional[int]
    #: The column, from 1.
    column: Optional[int]
    #: The key with its section: ``topology.leaves``.
    key: Optional[str]

    def __init__(
        self,
        message: str,
        *,
        file: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        key: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.column = column
        self.key = key

    @property
    def place(self) -> Optional[str]:
        """The position as messages write it: ``scenario.toml:3:10``."""
        parts = [self.file, self.line, self.column]
        known = [str(part) for part in parts if part is not None]
        return ":".join(known) if known else None


class ScenarioError(EvenkeelError, ValueError):
    """A scenario is invalid."""


class StudyError(EvenkeelError, ValueError):
    """A study is invalid, or its results cannot be kept."""


class ExperimentError(EvenkeelError, ValueError):
    """An experiment of the HPCC family is invalid."""


class ArgumentError(EvenkeelError, ValueError):
    """An argument is invalid."""


class ResultsError(EvenkeelError, OSError):
    """Results cannot be read or written."""


class DeterminismError(EvenkeelError, RuntimeError):
    """A policy in Python returned different values when the run was repeated."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a comparison or a sweep. The finished runs are kept."""

    #: A `Comparison` or a `Sweep` of the finished runs; None if no run has finished.
    finished: Union[Comparison, Sweep, None]

    def __init__(self, finished: Union[Comparison, Sweep, None] = None) -> None:
        runs = 0 if finished is None else len(finished)
        super().__init__(f"{runs} runs finished")
        self.finished = finished

    def __reduce__(self) -> Tuple[Any, ...]:
        return (Interrupted, (self.finished,))


class EvenkeelWarning(UserWarning):
    """A note for the user about a scenario or a run."""
