"""Progress of runs, for a callback or as a bar."""

from __future__ import annotations

import importlib
import sys
import time
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

from ._errors import ArgumentError

__all__ = ["Progress", "ProgressLike"]


@dataclass(frozen=True)
class Progress:
    """The progress of a command."""

    #: Policy and seed of the run that reported last.
    label: str
    #: Simulated time of that run.
    now_ns: float
    messages_completed: int
    messages: int
    #: Data bytes delivered so far, without duplicates, and data bytes of all messages.
    bytes_delivered: int
    bytes: int
    packet_hops: int
    #: Finished runs, and all runs of the command.
    runs_finished: int
    runs: int

    @property
    def fraction(self) -> float:
        """The completed fraction, from 0 to 1."""
        if self.runs > 1:
            return self.runs_finished / self.runs
        return self.bytes_delivered / self.bytes if self.bytes else 1.0


#: A callable that receives a `Progress`, True for a bar, or False for none. With None, commands
#: that take more than a second show a bar in a notebook or a terminal.
ProgressLike = Union[None, bool, Callable[[Progress], Any]]


def in_notebook() -> bool:
    """Returns True in a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class Bar:
    """A bar in a notebook (HTML) or on standard error (one line)."""

    WIDTH = 24
    #: Seconds before a bar appears.
    PATIENCE = 1.0

    def __init__(self, patience: float) -> None:
        self._begin = time.monotonic()
        self._patience = patience
        self._display: Any = None
        self._shown = False

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() - self._begin < self._patience:
            return
        self._shown = True
        if in_notebook():
            self._show_html(progress)
        else:
            print("\r" + self.line(progress), end="", file=sys.stderr, flush=True)

    def line(self, progress: Progress) -> str:
        """Formats the bar as text."""
        done = round(self.WIDTH * progress.fraction)
        bar = "=" * done + " " * (self.WIDTH - done)
        return f"{progress.label:<28.28} [{bar}] {self.numbers(progress)}"

    def numbers(self, progress: Progress) -> str:
        """Formats the numbers next to the bar."""
        seconds = time.monotonic() - self._begin
        if progress.runs > 1:
            return f"{progress.runs_finished} of {progress.runs} runs, {seconds:.0f} s "
        simulated = f"{progress.now_ns / 1e3:,.1f} us simulated"
        return f"{100 * progress.fraction:3.0f} %, {simulated}, {seconds:.0f} s "

    def html(self, progress: Progress) -> str:
        """Formats the bar as HTML."""
        numbers = self.numbers(progress)
        return (
            f'<progress value="{progress.fraction:.4f}" max="1" '
            f'aria-label="progress"></progress> {progress.label}: {numbers}'
        )

    def _show_html(self, progress: Progress) -> None:
        content = _html_object(self.html(progress))
        if self._display is None:
            self._display = _ipython_display().display(content, display_id=True)
        else:
            self._display.update(content)

    def end(self) -> None:
        """Removes the bar."""
        if not self._shown:
            return
        if self._display is not None:
            self._display.update(_html_object(""))
        else:
            print("\r" + " " * 100 + "\r", end="", file=sys.stderr, flush=True)


def _ipython_display() -> Any:
    """Imports the display module of notebooks, an optional dependency."""
    return importlib.import_module("IPython.display")


def _html_object(text: str) -> Any:
    return _ipython_display().HTML(text)


class Listener:
    """The listener of a command; its bar is removed at the end of the ``with`` block."""

    def __init__(self, asked: ProgressLike) -> None:
        self._bar: Optional[Bar] = None
        if asked is None and (in_notebook() or sys.stderr.isatty()):
            self._bar = Bar(Bar.PATIENCE)
        elif asked is True:
            self._bar = Bar(0.0)
        elif callable(asked):
            self._tell: Callable[[Progress], Any] = asked
            return
        elif asked not in (None, False):
            raise ArgumentError(f"progress = {asked!r}: expected a callable, True, False or None")
        self._tell = self._bar if self._bar is not None else _ignore

    def __enter__(self) -> Optional[Callable[..., None]]:
        if self._tell is _ignore:
            return None
        return lambda *fields: self._tell(Progress(*fields)) and None

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.end()


def _ignore(_: Progress) -> None:
    pass
