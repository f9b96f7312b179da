"""Arrays and matrices with a row per user: ranked item numbers, or scores of all items."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.errors import InvalidInputError, warn
from recsys_ndcg.input.ids import encode_ids
from recsys_ndcg.input.python_objects import FIRST_TIME, score_by_rank
from recsys_ndcg.input.rows import NUMBERS, Rows, to_floats

#: The numbers of columns of rows of labels and results, and of interactions.
_WIDTHS = {"labels": (2, 3), "results": (3, 4, 5)}
_OTHER_WIDTHS = (2, 3, 4)
_IDS = ("users", "items")  # ids may be tuples
#: Types whose readers know more of them than a NumPy array would.
_COLUMNS = (np.ndarray, pd.Series, pd.api.extensions.ExtensionArray, str, bytes)


def to_matrix(data: Any) -> Any:
    """Return an array of two dimensions, also of a tensor, or a sparse matrix; None for others.

    Examples
    --------
    >>> to_matrix(np.zeros((2, 3))).shape, to_matrix([1, 2]) is None
    ((2, 3), True)
    """
    is_one = getattr(data, "ndim", 0) == 2 and not hasattr(data, "columns")
    if not is_one or hasattr(data, "tocoo"):
        return data if is_one else None
    return _to_coo(data) if getattr(data, "is_sparse", False) else to_array(data, "data")


def _to_coo(tensor: Any) -> Any:
    from scipy.sparse import coo_array  # noqa: PLC0415 - few need it

    tensor = tensor.detach().coalesce().cpu()
    values, places = (to_array(one, "data") for one in (tensor.values(), tensor.indices()))
    return coo_array((values, tuple(places)), shape=tuple(tensor.shape))


def read_matrix(
    data: Any, table: str, other: Any = None, labels: Rows | None = None
) -> Rows | None:
    """Read labels or results in a matrix with a row per user; None if its rows are no users.

    Parameters
    ----------
    data : array, tensor, sparse matrix, or pair of arrays of items and their scores
        Item numbers, users × k; or grades or scores, users × items.
    table : str
        What it is, as in `read_rows`; no predictions.
    other : matrix, optional
        The results of these labels, or the labels of these results.
    labels : Rows, optional
        The labels of these results.

    Raises
    ------
    InvalidInputError
        Results are whole numbers in three columns, so that rows may be (user, item, score), and
        the users of the labels are not numbered from 0 as rows are.
    """
    scores = None
    if table == "results" and isinstance(data, tuple | list) and len(data) == 2:
        data, scores = map(to_matrix, data)
        if data is not None and scores is not None and data.dtype.kind == "f":
            are_swapped = scores.dtype.kind in "iu"  # as by torch.topk
            data, scores = (scores, data) if are_swapped else (data, scores)
    matrix = to_matrix(data)
    if matrix is None:
        return None
    partner = other if other is not None and other.shape[0] == matrix.shape[0] else None
    if partner is not None:
        _check_partner(matrix, partner, table)
    if scores is None and _holds_all_items(matrix, table, partner):
        return read_user_item_matrix(matrix, table)
    if scores is None and _holds_rows(matrix, table, partner, labels):
        return None
    _check_users(len(matrix), labels)
    return read_top_k(matrix, scores, table)


def _check_partner(matrix: Any, partner: Any, table: str) -> None:
    """Raise if it is not clear what labels and results, both arrays, hold."""
    kind, is_alike, msg = matrix.dtype.kind, partner.shape == matrix.shape, ""
    if hasattr(matrix, "tocoo"):
        return
    if table == "results" and kind in "iu" and is_alike:
        is_sparse = hasattr(partner, "tocoo")  # then items are more likely than scores
        is_unclear = matrix.max(initial=0) >= matrix.shape[1] if is_sparse else _is_binary(partner)
        if is_unclear:
            msg = f"{table}: whole numbers with labels of users × items may be scores or items. "
            msg += f"Give scores as {table}.astype(float), and items as dict(enumerate({table}))."
    elif kind == partner.dtype.kind == "f" and not is_alike:
        msg = f"The labels and the results are users × items of shapes {matrix.shape} and "
        msg += f"{partner.shape}. Give both a column for each item."
    InvalidInputError.raise_if(msg)


def _holds_all_items(matrix: Any, table: str, partner: Any) -> bool:
    """Return whether an array has a column for each item."""
    kind = matrix.dtype.kind
    if kind == "b" or hasattr(matrix, "tocoo"):
        return True
    is_alike = partner is not None and partner.shape == matrix.shape
    if is_alike and kind in "iuf" and "f" in (kind, partner.dtype.kind):
        return True
    may_be_rows = matrix.shape[1] in _WIDTHS.get(table, _OTHER_WIDTHS)
    if table != "results" and kind in "iu" and matrix.shape[1] > 2:
        are_small = matrix.max(initial=0) < FIRST_TIME  # rows of four may have times
        return _is_binary(matrix) or (not may_be_rows and are_small and repeats_items(matrix))
    if kind != "f":
        return False
    ids = matrix[:, :2]
    return not (may_be_rows and np.isfinite(ids).all() and (ids == np.floor(ids)).all())


def repeats_items(matrix: Any) -> bool:
    """Return whether a row has a number twice, but for -1: then its numbers are no items."""
    ordered = np.sort(matrix, axis=1)
    is_same = ordered[:, 1:] == ordered[:, :-1]
    return bool((is_same & (ordered[:, 1:] != -1)).any())


def _is_binary(matrix: Any) -> bool:
    """Return whether an array has only 0 and 1, which are no ids of several items."""
    kind = matrix.dtype.kind
    return kind == "b" or bool(kind in "iu" and matrix.max(initial=0) <= 1)


def _holds_rows(matrix: Any, table: str, partner: Any, labels: Rows | None) -> bool:
    """Return whether the rows of an array are (user, item, number); raise if it is not clear."""
    kind, width = matrix.dtype.kind, matrix.shape[1]
    if table == "labels" and width == 4 and kind in "iuf" and (matrix[:, 3] >= FIRST_TIME).all():
        return True
    if width not in _WIDTHS.get(table, _OTHER_WIDTHS):
        return False
    has_ids = kind in "iuUS"
    if has_ids and table == "labels" and partner is not None:
        _raise_ambiguous("labels", "may be (user, item), or the relevant items")
    if not has_ids or table != "results":
        return True
    if width == 3 and kind in "iu" and not _are_numbered(len(matrix), labels):
        _raise_ambiguous("results", "of whole numbers may be (user, item, score), or the items")
    return False


def _are_numbered(n_users: int, labels: Rows | None) -> bool:
    """Return whether the users of the labels are the numbers of an array's rows."""
    if labels is None:
        return False
    users, _ = encode_ids(labels.user, "user")
    return users.dtype.kind in "iu" and np.array_equal(users, np.arange(n_users))


def _check_users(n_users: int, labels: Rows | None) -> None:
    """Raise if the labels have a whole number as a user that an array has no row for."""
    users = encode_ids(labels.user, "user")[0] if labels is not None else np.array([])
    if users.dtype.kind in "iu" and users.max(initial=0) >= n_users:
        msg = (
            f"results: the rows of the array are the users 0 to {n_users - 1}, but the labels have "
            f"the user {users.max()}. Give the lists with their users: dict(zip(users, results))."
        )
        raise InvalidInputError(msg)


def _raise_ambiguous(table: str, fault: str) -> NoReturn:
    msg = (
        f"{table}: the rows of an array {fault} of users 0, 1, 2 and so on. If they are rows, give "
        f"[*map(tuple, {table})]; if they are lists, dict(enumerate({table}))."
    )
    raise InvalidInputError(msg)


def read_user_item_matrix(matrix: Any, table: str) -> Rows:
    """Read the cells of users × items: there is a row for each that is stored and not NaN.

    Users and items are numbered from 0. In interactions 0 is none; in results minus infinity,
    with which scripts mask the items of training.

    Examples
    --------
    >>> rows = read_user_item_matrix(np.array([[0.5, np.nan], [0.2, 0.1]]), "results")
    >>> rows.user.tolist(), rows.item.tolist(), rows.estimated.tolist()
    ([0, 1, 1], [0, 0, 1], [0.5, 0.2, 0.1])
    """
    number = NUMBERS.get(table, "rating")
    if hasattr(matrix, "tocoo"):
        matrix = matrix.tocoo()
        user, item, values = matrix.row, matrix.col, matrix.data
    else:
        # short ids, as they may take more memory than the scores
        user, item = np.indices(matrix.shape, dtype=np.int32, sparse=True)
        user, item = (np.broadcast_to(one, matrix.shape).ravel() for one in (user, item))
        values = matrix.ravel()
    is_there = ~np.isnan(values)
    if table != "labels":
        is_there &= values != (-np.inf if table == "results" else 0)
    if not is_there.all():
        user, item, values = user[is_there], item[is_there], values[is_there]
    return Rows({"user": user, "item": item, number: to_floats(values, number)}, table)


def read_top_k(items: NDArray[Any], scores: Any, table: str) -> Rows:
    """Read an array of each user's items, best first, and perhaps one of their scores.

    Users are numbered from 0. Item -1 fills up short lists, as in implicit and faiss.

    Warns
    -----
    DataWarning
        There are such items.

    Examples
    --------
    >>> rows = read_top_k(np.array([[4, 2], [7, 4]]), None, "results")
    >>> rows.user.tolist(), rows.item.tolist(), rows.estimated.tolist()
    ([0, 0, 1, 1], [4, 2, 7, 4], [0.0, -1.0, 0.0, -1.0])
    """
    n_users, width = items.shape
    user = np.repeat(np.arange(n_users), width)
    order_only = scores is None and table == "results"
    values = score_by_rank([width] * n_users) if order_only else np.ones(items.size)
    if scores is not None:
        values = to_floats(scores.ravel(), "estimated")
        if scores.shape != items.shape:
            msg = f"The scores have the shape {scores.shape}, and their items {items.shape}."
            raise InvalidInputError(msg)
        steps = np.diff(scores, axis=1)
        if (steps >= 0).all() and (steps > 0).any():
            msg = (
                "The scores rise along every list, as distances do, so that the last item would be "
                "the best. Give -scores for distances, or reverse both arrays: items[:, ::-1]."
            )
            raise InvalidInputError(msg)
    item, kept = items.ravel(), np.ones(items.size, dtype=bool)
    if item.dtype.kind == "i" and (item == -1).any():
        kept = item != -1
        n_left_out = int((~kept).sum())
        warn(f"{n_left_out} of {len(item)} items are -1, which fills up short lists: left out.")
    number = NUMBERS.get(table, "rating")
    return Rows({"user": user[kept], "item": item[kept], number: values[kept]}, table, order_only)


def to_array(values: Any, name: str) -> Any:
    """Return an array or a tensor as a NumPy array, and a column, a list or None as it is.

    Tensors of torch may have a gradient, be on another device, or have the type bfloat16. Tensors
    in the memory of the CPU are not copied.

    Parameters
    ----------
    values : array, tensor, column or list
        Everything with ``__array__``, ``__array_interface__`` or ``__dlpack__`` is an array.
    name : str
        Its name, for the message.

    Raises
    ------
    InvalidInputError
        NumPy cannot read it, for example a sparse tensor.

    Examples
    --------
    >>> class Tensor:
    ...     def __array__(self, dtype=None, copy=None):
    ...         return np.array([4.5, 3.0])
    >>> to_array(Tensor(), "estimated")
    array([4.5, 3. ])
    """
    if isinstance(values, list | tuple):
        return _stack_rows(values, name)
    if isinstance(values, pd.Index):
        return values.to_series()
    if isinstance(values, pd.arrays.ArrowExtensionArray):
        return pd.Series(values)  # which knows the width of its floats
    if isinstance(values, _COLUMNS) or hasattr(values, "to_pylist"):
        return values
    if hasattr(values, "tocoo"):
        msg = (
            f"{name}: a sparse matrix, whose missing entries may mean 0 or unknown. Convert it "
            "with .toarray(), and set unlabelled items to NaN."
        )
        raise InvalidInputError(msg)
    if not _is_array(values):
        return values
    try:
        array = _to_numpy(values)
    except Exception as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        msg = (
            f"{name}: NumPy cannot read what {type(values).__module__}.{type(values).__name__} "
            f"holds ({reason}). Give a dense array in the memory of the CPU."
        )
        raise InvalidInputError(msg) from error
    # NumPy takes the short floats of JAX for records
    strange = array.dtype.kind == "V" and array.dtype.names is None
    return array.astype(np.float32) if strange and "float" in array.dtype.name else array


def _stack_rows(values: Any, name: str) -> Any:
    """Return a list of rows as a table, a list of tensors as an array, and others as they are."""
    first = values[0] if len(values) else None
    if isinstance(first, str | bytes | np.generic) or (name in _IDS and isinstance(first, tuple)):
        return values
    if not hasattr(first, "__len__") and not _is_array(first):
        return values
    rows = [to_array(one, name) for one in values]
    try:
        return np.array(rows)
    except ValueError:
        msg = (
            f"{name}: the rows of the table have different lengths. Pad them, and mark the cells "
            "that are in the list with mask=."
        )
        raise InvalidInputError(msg) from None


def _is_array(values: Any) -> bool:
    by_type = any(hasattr(type(values), way) for way in ("__array__", "__dlpack__"))
    return by_type or hasattr(values, "__array_interface__")


def _to_numpy(values: Any) -> NDArray[Any]:
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        # NumPy has neither the gradients nor the bfloat16 of torch
        values = values.detach().cpu()
        values = values.float() if str(values.dtype) == "torch.bfloat16" else values
    elif not (hasattr(type(values), "__array__") or hasattr(values, "__array_interface__")):
        values = np.from_dlpack(values)
    return np.asarray(values)
