"""Results as HTML, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Sequence

if TYPE_CHECKING:
    from ._evenkeel import Table
    from ._results import Comparison, Run, Sweep

#: Maximum number of rows shown of a table.
MAX_ROWS = 20


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """Formats a table whose first column has names."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        "<tr>"
        + f'<th scope="row" style="text-align:left">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    title = f'<caption style="text-align:left">{escape(caption)}</caption>'
    return f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def nanoseconds(value: Optional[float]) -> str:
    """Formats a time in a suitable unit; None is a dash."""
    if value is None:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if value >= size:
            return f"{value / size:,.3f} {unit}"
    return f"{value:,.3f} ns"


def count(value: Optional[float]) -> str:
    """Formats a number with commas; None is a dash."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3f}"


def ratio(value: Optional[float]) -> str:
    """Formats a ratio; None is a dash."""
    return "–" if value is None else f"{value:.3f}"


def of_run(run: Run) -> str:
    """Formats the table of a run."""
    lines = [line for line in str(run).splitlines() if line.strip()]
    # The table of the command line has two columns: names of one word or two, and values.
    rows: List[List[str]] = []
    for line in lines:
        name, gap, value = line.partition("  ")
        if line.startswith("  ") and rows:
            rows[-1][1] += f" {line.strip()}"
        else:
            rows.append([name, value.strip() if gap else ""])
    caption = f"{run.scenario}: {run.policy}, seed {run.seed}"
    html = table(["quantity", "value"], rows, caption)
    return html + _notes([*run.notes, *([run.incomplete] if run.incomplete else [])])


def of_comparison(comparison: Comparison) -> str:
    """Formats a table with a row per run."""
    head = ["policy", "seed", "CCT", "/own bound", "p99 FCT", "resent", "dropped", "extra QPs"]
    rows = [_compared(run) for run in comparison.runs]
    html = table(head, rows[:MAX_ROWS], comparison.runs[0].scenario if comparison.runs else "")
    best = str(comparison).rstrip().rsplit("\n", 1)[-1]
    html += _more(len(rows)) + f"<p>{escape(best)}</p>"
    return html + _notes([*comparison.notes, *comparison.incomplete])


def _compared(run: Any) -> List[str]:
    packets = run.get("packets") or {}
    fct, qps = run.get("fct_ns") or {}, run.get("qps") or {}
    return [
        run.policy,
        str(run.seed),
        nanoseconds(run.get("cct_ns")),
        ratio(run.get("slowdown")),
        nanoseconds(fct.get("p99")),
        count(packets.get("retransmitted")),
        count(packets.get("dropped")),
        count(qps.get("extra_per_nic_max")),
    ]


def of_sweep(sweep: Sweep) -> str:
    """Formats the first rows of the results, without columns that are empty throughout."""
    results: Table = sweep.table
    columns = {name: values for name, values in results.to_dict().items() if any(_shown(values))}
    rows = list(zip(*[_shown(values) for values in columns.values()]))
    html = table(list(columns), rows[:MAX_ROWS], f"{len(sweep)} runs")
    return html + _more(len(rows)) + _notes(sweep.errors)


def _shown(values: Iterable[Any]) -> List[str]:
    return ["" if value is None else f"{value:,}" if isinstance(value, float) else str(value)
            for value in values]


def _more(rows: int) -> str:
    left = rows - MAX_ROWS
    return f"<p>and {left} more rows</p>" if left > 0 else ""


def _notes(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<ul>{items}</ul>" if items else ""
