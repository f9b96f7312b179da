"""Arrays and tensors of other libraries, as NumPy has them: none of the libraries is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable

_IDS = ("users", "items")  # which may well be tuples
#: What `recsys_ndcg.input.rows` reads as it is, and knows more of than an array of NumPy would.
_COLUMNS = (np.ndarray, pd.Series, pd.Index, pd.api.extensions.ExtensionArray, str, bytes)


def as_array(values: Any, name: str) -> Any:
    """Return an array or a tensor as one of NumPy; a column or a list as it is.

    Tensors of torch may need a gradient, stand on another device, or be of bfloat16. What torch,
    JAX and TensorFlow hold in the memory of the CPU is not copied.

    Parameters
    ----------
    values : array, tensor, column or list
        Whatever has ``__array__``, ``__array_interface__`` or ``__dlpack__`` is an array.
    name : str
        Its name, for the message.

    Raises
    ------
    InvalidInputError
        The library does not hand it out, such as a sparse tensor, or one without numbers.

    Examples
    --------
    >>> class Tensor:
    ...     def __array__(self, dtype=None, copy=None):
    ...         return np.array([4.5, 3.0])
    >>> as_array(Tensor(), "estimated")
    array([4.5, 3. ])
    """
    if isinstance(values, list | tuple):
        return _of_several(values, name)
    if isinstance(values, pd.Series | pd.Index) and isinstance(values.dtype, np.dtype):
        return values.to_numpy()
    if isinstance(values, _COLUMNS) or hasattr(values, "to_pylist") or _is_text_of_polars(values):
        return np.asarray(values, dtype=short) if (short := _short_floats(values)) else values
    if hasattr(values, "tocoo"):
        msg = (
            f"{name}: a sparse matrix, and nobody could say whether what it leaves out is 0 or "
            "unknown. Give it with .toarray(), and NaN for unlabelled items."
        )
        raise InvalidInputError(msg)
    take = _way_out(values)
    if take is None:
        return values
    try:
        array = np.asarray(take())
    except Exception as error:
        msg = (
            f"{name}: NumPy cannot read what {type(values).__module__}.{type(values).__name__} "
            f"holds ({_first_line(error)}). Give a dense array in the memory of the CPU."
        )
        raise InvalidInputError(msg) from error
    return _widened(array)


def _of_several(values: Any, name: str) -> Any:
    """Return a list of rows as a table, one of tensors as an array, any other as it is."""
    first = values[0] if len(values) else None
    if isinstance(first, str | bytes | np.generic) or (name in _IDS and isinstance(first, tuple)):
        return values
    if not hasattr(first, "__len__") and _way_out(first) is None:
        return values
    rows = [as_array(one, name) for one in values]
    try:
        return np.array(rows)
    except ValueError:
        msg = (
            f"{name}: the rows of the table have different lengths. Fill them up, and say with "
            "mask= which cells are in the list."
        )
        raise InvalidInputError(msg) from None


def _way_out(values: Any) -> Callable[[], Any] | None:
    """Return what makes an array of something, None if it is no array."""
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        return lambda: _of_torch(values)
    kind = type(values)
    if hasattr(kind, "__array__") or hasattr(values, "__array_interface__"):
        return lambda: np.asarray(values)
    if hasattr(kind, "__dlpack__"):
        return lambda: np.from_dlpack(values)
    return None


def _of_torch(tensor: Any) -> Any:
    """Return a tensor as NumPy has it, which knows neither gradients nor bfloat16."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()


def _widened(array: Any) -> Any:
    """Return the short floats of JAX, which NumPy takes for records, in single precision."""
    strange = array.dtype.kind == "V" and array.dtype.names is None
    return array.astype(np.float32) if strange and "float" in array.dtype.name else array


def _short_floats(values: Any) -> str:
    """Return how a column of pandas or pyarrow holds short floats, which a list would widen."""
    kind = str(getattr(values, "dtype", getattr(values, "type", "")))
    names = {"float16": "float16", "halffloat": "float16", "float32": "float32", "float": "float32"}
    return "" if isinstance(values, np.ndarray) else names.get(kind.lower().partition("[")[0], "")


def _is_text_of_polars(values: Any) -> bool:
    """Tell a column of polars that holds no numbers."""
    kind: Any = getattr(values, "dtype", None)
    return hasattr(kind, "base_type") and hasattr(values, "to_arrow") and not kind.is_numeric()


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
