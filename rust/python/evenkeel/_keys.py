"""The keys of the scenario format, as the compiled part lists them."""

from __future__ import annotations

import functools
import inspect
import json
import keyword
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from . import _evenkeel

#: Kind that a key is for (empty for all), default (None if it depends on other keys), and meaning.
Key = Tuple[str, Any, str]


class Entry(NamedTuple):
    """A key for one kind of its section, as in docs/scenario.md."""

    only: str
    form: str
    default: str
    summary: str


@functools.lru_cache(maxsize=None)
def entries() -> Sequence[Tuple[str, Entry]]:
    """Returns all keys with their sections, in the order of docs/scenario.md."""
    return [(key, Entry(*entry)) for key, *entry in _evenkeel.catalogue()]


@functools.lru_cache(maxsize=None)
def catalogue() -> Mapping[str, Mapping[str, List[Entry]]]:
    """Returns the entries by section and key."""
    found: Dict[str, Dict[str, List[Entry]]] = {}
    for key, entry in entries():
        section, _, name = key.partition(".")
        if name and "." not in name:
            found.setdefault(section, {}).setdefault(name, []).append(entry)
    return found


@functools.lru_cache(maxsize=None)
def keys(section: str) -> Mapping[str, Tuple[Key, ...]]:
    """Returns the keys of a section with every kind that they are for; empty if it is unknown."""
    return {
        key: tuple((_kind(it), _default(it), _plain(it.summary)) for it in entries)
        for key, entries in catalogue().get(section, {}).items()
    }


@functools.lru_cache(maxsize=None)
def takes_any(section: str) -> bool:
    """Returns True if a section's class accepts keys that its signature does not name."""
    # Policy parameters are keys of [policy], and a key such as `class` is a Python keyword.
    return section in ("", "policy") or any(map(keyword.iskeyword, keys(section)))


@functools.lru_cache(maxsize=None)
def signature(section: str) -> inspect.Signature:
    """Returns the signature of the section's class."""
    only, rest = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD
    parameters = [
        inspect.Parameter(key, only, default=None, annotation=_annotation(entries))
        for key, entries in catalogue().get(section, {}).items()
        if not keyword.iskeyword(key)
    ]
    if takes_any(section):
        parameters.append(inspect.Parameter("parameters", rest, annotation="Any"))
    return inspect.Signature(parameters)


def documentation(section: str) -> str:
    """Returns the keys of a section as text: value, meaning and default, one line per meaning."""
    lines = ["Keys, with their values:"]
    for name, entries in _described(section).items():
        meanings: Dict[Tuple[str, str], List[str]] = {}
        for it in entries:
            text = f"{it.summary} Default: {it.default}." if it.default else it.summary
            meaning = (_plain(it.form), _plain(text))
            meanings.setdefault(meaning, []).append(_kind(it) or _plain(it.only))
        for (form, text), names in meanings.items():
            only = f" [{', '.join(names)}]" if all(names) else ""
            lines.append(f"    {name} ({form}): {text}{only}")
    return "\n".join([*lines, *(parameters() if section == "policy" else ())])


def _described(section: str) -> Mapping[str, List[Entry]]:
    """Returns the entries of a section by key, with those of the tables below it."""
    found: Dict[str, List[Entry]] = {}
    for key, entry in entries():
        above, _, name = key.rpartition(".") if "." not in key else key.partition(".")
        if above == section:
            found.setdefault(name, []).append(entry)
    return found


def parameters() -> List[str]:
    """Returns the policies with their parameters and defaults as lines of text."""
    lines = ["Policies, with their parameters and defaults:"]
    own: Dict[str, List[str]] = {}
    for key, policies, default in _evenkeel.parameters():
        section, _, name = key.partition(".")
        for policy in policies if section == "policy" else ():
            own.setdefault(policy, []).append(f"{name} = {default}")
    for name, summary, _ in _evenkeel.listing("policies")[1]:
        lines.append(f"    {name}: {_plain(summary)}")
        lines.append(f"        {', '.join(own.get(name, ['no parameters']))}")
    return lines


def _plain(text: str) -> str:
    """Removes Markdown's code marks from a text."""
    return text.replace("`", "")


def _kind(entry: Entry) -> str:
    """Returns `leaf-spine` for `kind = "leaf-spine"`; empty for all kinds."""
    match = re.fullmatch(r'kind = "(.*)"', entry.only)
    return match.group(1) if match else ""


def _default(entry: Entry) -> Any:
    """Returns the default as a Python value; None if it is described in words."""
    text = entry.default.strip()
    if not re.fullmatch("`[^`]*`", text):
        return None
    try:
        return json.loads(_evenkeel.json_of_toml(f"it = {text[1:-1]}", "default"))["it"]
    except ValueError:
        return None


def _annotation(entries: List[Entry]) -> str:
    """Returns the type of a key's value, as a signature shows it."""
    types: List[str] = []
    for entry in entries:
        types += [it for it in _types(entry.form) if it not in types]
    joined = types[0] if len(types) == 1 else f"Union[{', '.join(types)}]"
    return f"Optional[{joined}]"


def _types(form: str) -> List[str]:
    """Returns the Python types of values in a notation."""
    exact = {
        "whole number": "int",
        "`true` or `false`": "bool",
        "list of whole numbers": "Sequence[int]",
        "table": "Mapping[str, Any]",
        "table of names": "Mapping[str, Any]",
    }
    if form in exact:
        return [exact[form]]
    others = {
        "bool": "`true`" in form or "`false`" in form,
        "int": "number" in form,
        "Mapping[str, Any]": "table" in form,
        "Sequence[Any]": "list" in form,
    }
    return ["str", *(name for name, is_in in others.items() if is_in)]
