"""Mean similarity of each row to its nearest others, by sparse products with a running top k.

The similarity of two rows is summed in the order of their terms, whose numbers depend on no row order; so the value
is the same for any order of rows, block size and number of threads, to the last bit.

The compiled core of sparse_dot_topn is called directly: its Python layer imports scipy.sparse, which costs more than
the whole search in a corpus of a few thousand rows.
"""

import importlib.machinery
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXACT = "exact: cosine over all rows"
COMMON, PROPOSED = 0.1, 64
APPROXIMATE = f"approximate: terms of at most {COMMON:.0%} of the rows propose {PROPOSED} rows, compared exactly"

_BLOCK_PRODUCTS = 3e8


@dataclass(frozen=True, slots=True)
class Sparse:
    """Rows of (term, weight), each row's terms in ascending order, as CSR."""

    data: Floats
    indices: NDArray[np.int32]
    indptr: NDArray[np.int32]
    terms: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    def row_numbers(self) -> Ints:
        """The row of each entry."""
        return np.repeat(np.arange(self.rows), np.diff(self.indptr))


def sparse(rows: Ints, terms: NDArray[Any], data: Floats, shape: tuple[int, int]) -> Sparse:
    """Entries, sorted by row and then term, as `Sparse`."""
    indptr = np.zeros(shape[0] + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=indptr[1:])
    return Sparse(np.ascontiguousarray(data), terms.astype(np.int32), indptr.astype(np.int32), shape[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How neighbours are searched."""

    threads: int = 1
    approximate: bool = False
    """Compare each row only with those nearest to it by the less common terms: means can only come out too low."""
    advance: Callable[[int], None] = lambda _: None
    """Is told how many more rows are done."""

    @property
    def name(self) -> str:
        """The method, for the metadata of scores."""
        return APPROXIMATE if self.approximate else EXACT


def mean_of_nearest(matrix: Sparse, nearest: int, others: Ints, search: Search) -> Floats:
    """Mean of each row's `nearest` highest similarities to other rows; of all, where it has fewer `others`.

    `matrix` has rows of length 1 (or 0); `others` counts the rows that a row is compared with. Rows that share no
    term have similarity 0; a row without others has mean 0.
    """
    proposing = _less_common(matrix) if search.approximate else matrix
    inverted = _transposed(proposing)
    kept = (PROPOSED if search.approximate else nearest) + 1
    means = np.zeros(matrix.rows)
    for start, end in _blocks(proposing):
        values, indptr, indices = _top(_part(proposing, start, end), inverted, min(kept, matrix.rows), search.threads)
        if search.approximate:
            values = _similarities(matrix, start, indptr, indices)
        means[start:end] = _means(values, indptr, indices, start, nearest, others[start:end])
        search.advance(end - start)
    return means


def _part(matrix: Sparse, start: int, end: int) -> Sparse:
    first, last = matrix.indptr[start], matrix.indptr[end]
    indptr = matrix.indptr[start : end + 1] - first
    return Sparse(matrix.data[first:last], matrix.indices[first:last], indptr, matrix.terms)


def _less_common(matrix: Sparse) -> Sparse:
    """The rows with only the terms that at most the share `COMMON` of them have."""
    holders = np.bincount(matrix.indices, minlength=matrix.terms)
    kept = holders[matrix.indices] <= COMMON * matrix.rows
    return sparse(matrix.row_numbers()[kept], matrix.indices[kept], matrix.data[kept], (matrix.rows, matrix.terms))


def _similarities(matrix: Sparse, start: int, indptr: Any, indices: Any) -> Floats:
    """Similarity of each proposed pair of rows, over all their terms, summed in the order of terms."""
    widths = np.diff(matrix.indptr)
    result = np.zeros(len(indices))
    dense = np.zeros(matrix.terms)
    for row, (first, last) in enumerate(pairwise(indptr.tolist()), start):
        pairs = slice(first, last)
        mine = slice(int(matrix.indptr[row]), int(matrix.indptr[row + 1]))
        dense[matrix.indices[mine]] = matrix.data[mine]
        others = indices[pairs]
        at = np.arange(widths[others].sum()) + np.repeat(
            matrix.indptr[others] - np.concatenate(([0], np.cumsum(widths[others])[:-1])), widths[others]
        )
        products = dense[matrix.indices[at]] * matrix.data[at]
        result[pairs] = np.bincount(np.repeat(np.arange(len(others)), widths[others]), products, len(others))
        dense[matrix.indices[mine]] = 0.0
    return result


def _means(values: Floats, indptr: Any, indices: Any, start: int, nearest: int, others: Ints) -> Floats:
    """The mean of the best `nearest` of each row's values, the row itself left out."""
    counts = np.diff(indptr)
    table = np.zeros((len(counts), max(nearest + 1, int(counts.max(initial=0)))))
    rows = np.repeat(np.arange(len(counts)), counts)
    columns = np.arange(len(values)) - np.repeat(np.asarray(indptr[:-1], dtype=np.int64), counts)
    table[rows, columns] = np.where(indices == rows + start, 0.0, np.minimum(values, 1.0))
    table.sort(axis=1)
    total = np.zeros(len(counts))
    for place in range(1, nearest + 1):
        total += table[:, -place]
    return total / np.maximum(1, np.minimum(nearest, others))


def _blocks(matrix: Sparse) -> list[tuple[int, int]]:
    """Blocks of rows of about as many products each, for progress."""
    holders = np.bincount(matrix.indices, minlength=matrix.terms)
    products = np.add.accumulate(holders[matrix.indices].astype(np.float64))
    ends = np.concatenate(([0.0], products))[matrix.indptr[1:]]
    count = int(ends[-1] // _BLOCK_PRODUCTS) + 1
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], count + 1)[1:-1]) + 1
    edges = np.unique(np.concatenate(([0], cuts, [matrix.rows])))
    return [(start, end) for start, end in pairwise(edges.tolist())]


def _transposed(matrix: Sparse) -> Sparse:
    order = np.argsort(matrix.indices, kind="stable")
    return sparse(
        matrix.indices[order].astype(np.int64),
        matrix.row_numbers()[order],
        matrix.data[order],
        (matrix.terms, matrix.rows),
    )


def _top(part: Sparse, inverted: Sparse, top: int, threads: int) -> tuple[Floats, Any, Any]:
    """The `top` highest products of each row of `part` with the columns of `inverted`: values, indptr, indices."""
    if len(part.data) == 0:
        return np.zeros(0), np.zeros(part.rows + 1, np.int32), np.zeros(0, np.int32)
    arguments: dict[str, Any] = {
        "top_n": top,
        "nrows": part.rows,
        "ncols": inverted.terms,
        "threshold": None,
        "A_data": part.data,
        "A_indptr": np.ascontiguousarray(part.indptr),
        "A_indices": part.indices,
        "B_data": inverted.data,
        "B_indptr": inverted.indptr,
        "B_indices": inverted.indices,
    }
    core = _core()
    if threads > 1 and core._has_openmp_support:
        values, indices, indptr = core.sp_matmul_topn_mt(n_threads=threads, **arguments)
    else:
        values, indices, indptr = core.sp_matmul_topn(density=1.0, **arguments)
    kept = int(indptr[-1])
    return values[:kept], indptr, indices[:kept]


_loaded: list[Any] = []


def _core() -> Any:
    """The compiled module of sparse_dot_topn."""
    if not _loaded:
        _loaded.append(_load_core())
    return _loaded[0]


def _load_core() -> Any:
    package = importlib.util.find_spec("sparse_dot_topn")
    for folder in (package.submodule_search_locations or []) if package else []:
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            path = Path(folder) / "lib" / f"_sparse_dot_topn_core{suffix}"
            spec = importlib.util.spec_from_file_location("_sparse_dot_topn_core", path)
            if path.is_file() and spec and spec.loader:
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
    from sparse_dot_topn import _core

    return _core
