"""The meaning of the arguments that several functions share."""

from __future__ import annotations

import inspect
import re
from typing import Any, Callable, Dict, TypeVar

from . import _keys

__all__ = ["documented"]

Function = TypeVar("Function", bound=Callable[..., Any])

MEANINGS = {
    "scenario": "a path, TOML text, a dict or an `evenkeel.Scenario`.",
    "seed": "overrides the scenario's seed: {seed}",
    "set": 'overrides other keys, such as {"topology.leaves": 8, "failure[0].at": "10us"}; values\n'
    "        have the units of the file, see `evenkeel.explain`.",
    "force": "runs even if the estimated memory exceeds what is available.",
    "jobs": "number of runs simulated at the same time; one per core by default.",
    "progress": "a callable that receives `evenkeel.Progress`, True for a bar, False for none.",
    "name": "the name of a scenario or a study that is not a file.",
}


def documented(function: Function) -> Function:
    """Adds the arguments that a docstring does not describe."""
    text = inspect.cleandoc(function.__doc__ or "")
    lists = re.findall(r"^(\w+(?:, \w+)*): ", text, re.M)
    described = {name for names in lists for name in names.split(", ")}
    missing = [it for it in inspect.signature(function).parameters if it not in described]
    lines = [f"{name}: {_meaning(name)}" for name in missing]
    lines = [re.sub(r"\n {8}", "\n    ", line) for line in lines]
    if lines:
        head, example, tail = text.partition("\n\nExample: ")
        text = "\n".join([f"{head}\n\nOther arguments:", *lines]) + example + tail
    function.__doc__ = text
    return function


def _meaning(name: str) -> str:
    return MEANINGS[name].replace("{seed}", _summaries().get("seed", ""))


def _summaries() -> Dict[str, str]:
    """Returns the meanings of keys above all sections, from the documentation of the format."""
    return {key: it.summary.replace("`", "") for key, it in _keys.entries() if "." not in key}
