"""The notebooks of examples/python and the code of docs/python.md do what they show."""

from __future__ import annotations

import pathlib
import re
import xml.etree.ElementTree as xml

import pytest
from conftest import EXAMPLES, ROOT, pandas_3

NOTEBOOKS = sorted((EXAMPLES / "python").glob("*.ipynb"))


def pictures(notebook):
    """The SVG pictures among the outputs, cell by cell."""
    outputs = [it for cell in notebook.cells for it in cell.get("outputs", [])]
    found = [it["data"]["image/svg+xml"] for it in outputs if "image/svg+xml" in it.get("data", {})]
    return ["".join(it) for it in found]


def test_there_are_three_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["failure-study", "first-steps", "own-policy"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_draws_the_pictures_that_it_shows(path: pathlib.Path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pandas_3()
    committed = nbformat.read(path, 4)
    notebook = nbformat.read(path, 4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    drawn = pictures(notebook)
    assert len(drawn) >= 2
    assert all(xml.fromstring(it).tag.endswith("svg") for it in drawn)
    assert drawn == pictures(committed), "run the notebook again, and commit it"


def test_the_code_of_the_page_runs(capsys):
    pandas_3()
    pytest.importorskip("polars")
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 7
    names: dict = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "has no key 'leafs'; did you mean 'leaves'?" in printed
    assert "scenario.toml 2 1 topology.leafs" in printed
    assert "InTurn" in printed and "spray, seed" in printed
