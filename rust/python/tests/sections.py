"""Writes evenkeel/_sections.py from the keys of the format.

python rust/python/tests/sections.py
"""

from __future__ import annotations

import json
import keyword
import pathlib
import re
from typing import Any, Dict, List, Tuple

from evenkeel import _evenkeel

#: The class of each section.
CLASSES = {
    "topology": "Topology",
    "switch": "Switch",
    "transport": "Transport",
    "policy": "Policy",
    "class": "TrafficClass",
    "workload": "Workload",
    "job": "Job",
    "failure": "Failure",
    "record": "Record",
    "hosts": "Hosts",
    "rail": "Rail",
    "handler": "Handler",
}

HEAD = '''"""The sections of a scenario, a class each.

Written by rust/python/tests/sections.py from the keys of the format: do not change it by hand.
docs/scenario.md has the same keys. A default of None depends on other keys.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

from ._section import Section

'''

Entry = Tuple[str, str, str, str]


def sections() -> Dict[str, Dict[str, List[Entry]]]:
    """By section and key: where the key holds, its notation, its default and its meaning."""
    found: Dict[str, Dict[str, List[Entry]]] = {name: {} for name in CLASSES}
    for key, *entry in _evenkeel.catalogue():
        section, _, name = key.partition(".")
        if section in found and name and "." not in name:
            found[section].setdefault(name, []).append(tuple(entry))
    return found


def kind(only: str) -> str:
    """`leaf-spine` of `kind = "leaf-spine"`; empty for all kinds."""
    match = re.fullmatch(r'kind = "(.*)"', only)
    return match.group(1) if match else ""


def value(default: str) -> Any:
    """The default as Python has it; None where words describe it."""
    text = default.strip()
    if not re.fullmatch("`[^`]*`", text):
        return None
    try:
        return json.loads(_evenkeel.json_of_toml(f"it = {text[1:-1]}", "default"))["it"]
    except ValueError:
        return None


def hint(entries: List[Entry]) -> str:
    """The type of a key's value."""
    types: List[str] = []
    for _, form, _, _ in entries:
        if form == "whole number":
            found = ["int"]
        elif form == "`true` or `false`":
            found = ["bool"]
        elif form == "list of whole numbers":
            found = ["Sequence[int]"]
        elif form in ("table", "table of names"):
            found = ["Mapping[str, Any]"]
        else:
            found = ["str"]
            found += ["bool"] if "`true`" in form or "`false`" in form else []
            found += ["int"] if "number" in form else []
            found += ["Mapping[str, Any]"] if "table" in form else []
            found += ["Sequence[Any]"] if "list" in form else []
        types += [it for it in found if it not in types]
    joined = types[0] if len(types) == 1 else f"Union[{', '.join(types)}]"
    return f"Optional[{joined}]"


def class_of(name: str, keys: Dict[str, List[Entry]]) -> str:
    """The class of a section."""
    lines = [f"class {CLASSES[name]}(Section):"]
    brackets = f"[[{name}]]" if name in ("class", "job", "failure", "rail") else f"[{name}]"
    lines += [f'    """``{brackets}``."""', "", "    KEYS = {"]
    for key, entries in keys.items():
        kinds = [
            (kind(only), value(default), summary.replace("`", ""))
            for only, _, default, summary in entries
        ]
        lines.append(f"        {key!r}: {tuple(kinds)!r},")
    lines += ["    }", "", "    def __init__(", "        self,", "        *,"]
    # A key that Python does not take as a name: Job(**{"from": "…"}).
    named = {key: entries for key, entries in keys.items() if not keyword.iskeyword(key)}
    lines += [f"        {key}: {hint(entries)} = None," for key, entries in named.items()]
    open_ended = name == "policy" or len(named) < len(keys)
    lines += ["        **parameters: Any,"] if open_ended else []
    lines += ["    ) -> None:", "        super().__init__("]
    lines += [f"            {key}={key}," for key in named]
    lines += ["            **parameters,"] if open_ended else []
    lines += ["        )", ""]
    return "\n".join(lines)


def text() -> str:
    """The content of the file."""
    classes = [class_of(name, keys) for name, keys in sections().items()]
    return HEAD + "\n" + "\n\n".join(classes)


FILE = pathlib.Path(__file__).parent.parent / "evenkeel" / "_sections.py"

if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
