"""Tables as data frames of pandas, of any version from 2 on."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._evenkeel import Table

__all__ = ["to_pandas"]


def to_pandas(table: Table) -> Any:
    """Returns a `pandas.DataFrame`: int64, float64 and texts.

    Whole numbers of which some are missing are float64, as when pandas reads them from CSV. With
    pyarrow the columns are converted without Python objects.
    """
    pandas = importlib.import_module("pandas")
    try:
        pyarrow: Any = importlib.import_module("pyarrow")
    except ImportError:
        columns = {
            name: _series(pandas, table[name], kind)
            for name, kind in zip(table.column_names, table.column_types)
        }
        return pandas.DataFrame(columns)
    frame = pyarrow.table(table).to_pandas()
    # Columns without a value, and those of old versions of pyarrow, have the type object.
    texts = [
        name
        for name, kind in zip(table.column_names, table.column_types)
        if kind == "str" and frame[name].dtype != pandas.Series([""], dtype="str").dtype
    ]
    return frame.astype({name: "str" for name in texts}) if texts else frame


def _series(pandas: Any, values: Any, kind: str) -> Any:
    is_missing = kind == "int64" and None in values
    return pandas.Series(values, dtype="float64" if is_missing else kind)
