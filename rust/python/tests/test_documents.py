"""The notebooks of examples/python and the Python code of pages in docs do what they show."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as xml

import pytest
from conftest import EXAMPLES, ROOT

NOTEBOOKS = EXAMPLES / "python"

#: Numbers of figures and HTML tables that a notebook shows, and words that it prints.
OUTPUTS = {
    "failure-study": (2, 2, "the retransmission timer"),
    "first-steps": (3, 2, 'kind = "all-to-all"'),
    "own-policy": (2, 0, "the policy is not deterministic"),
}


def test_notebooks_are_committed_without_outputs():
    paths = sorted(NOTEBOOKS.glob("*.ipynb"))
    assert [path.stem for path in paths] == list(OUTPUTS)
    for path in paths:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            assert not cell.get("outputs") and cell.get("execution_count") is None, path.name


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_notebook_runs_and_shows_its_pictures_and_tables(name: str):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas")
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", 4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(NOTEBOOKS)}},
    )
    # A cell that raises an exception fails the test.
    client.execute()
    outputs = [it for cell in notebook.cells for it in cell.get("outputs", [])]
    shown = [it.get("data", {}) for it in outputs]
    pictures = [it["image/svg+xml"] for it in shown if "image/svg+xml" in it]
    tables = [it["text/html"] for it in shown if "<table" in it.get("text/html", "")]
    printed = "".join(it["text"] for it in outputs if it["output_type"] == "stream")
    assert (len(pictures), len(tables)) == OUTPUTS[name][:2]
    assert all(xml.fromstring(it).tag.endswith("svg") for it in pictures)
    assert OUTPUTS[name][2] in printed


def run_blocks(page: str, least: int):
    """Runs the Python blocks of a page, one after another."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= least
    names: dict = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, f"docs/{page}", "exec"), names)


def test_the_code_of_the_python_page_runs(capsys):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    run_blocks("python.md", 6)
    printed = capsys.readouterr().out
    assert "has no key 'leafs'; did you mean 'leaves'?" in printed
    assert "scenario.toml 2 1 topology.leafs" in printed


def test_the_code_of_the_policy_tutorial_runs(capsys):
    run_blocks("own-policy.md", 3)
    assert "InTurn" in capsys.readouterr().out
