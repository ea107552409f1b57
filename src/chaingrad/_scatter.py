"""``np.add.at``, many times as fast where an index picks rows, or cannot pick an entry twice."""

from typing import Any

import numpy as np


def add_at(out: np.ndarray, index: Any, a: Any) -> None:
    """Add the entries of ``a`` to those of ``out``, all 0, where the index points."""
    rows = index[0] if type(index) is tuple and len(index) == 1 else index
    if isinstance(rows, list):
        rows = np.asarray(rows)
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
        _add_rows(out, rows, a)
    elif _may_repeat(index):
        np.add.at(out, index, a)
    else:
        out[index] = a


def _add_rows(out: np.ndarray, rows: np.ndarray, a: Any) -> None:
    """Add ``a[i]`` to ``out[rows[i]]``, in place; add up rows that occur several times first."""
    rows = rows.astype(np.intp).reshape(-1)
    rows = np.where(rows < 0, rows + len(out), rows)
    a = np.reshape(a, (rows.size, *out.shape[1:]))
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    if len(starts) < len(rows):
        out[rows[starts]] = np.add.reduceat(a[order], starts, axis=0)
    else:
        out[rows] = a[order]


def _may_repeat(index: Any) -> bool:
    """Return whether an entry may be picked twice: only integers in arrays or lists can do so."""
    parts = index if type(index) is tuple else (index,)
    return any(
        np.asarray(part).dtype.kind in "iu" for part in parts if isinstance(part, np.ndarray | list)
    )
