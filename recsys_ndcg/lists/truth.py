"""A digest of what is known of each user: by it two reports are known to be on the same ratings."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Ids
from recsys_ndcg.errors import is_encodable
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.parallel import map_in_threads, split_users

_WHOLE = 2.0**53  # up to here a float is the whole number that it writes
_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def digest_truth(lists: GroupedLists) -> NDArray[np.uint32]:
    """Return a digest of the labelled items of each user, in the list or not.

    It is a sum, modulo 2^32, over (user, item, true): so it depends neither on the order of the
    rows nor on what was recommended, and those of parts of the data add up to that of the whole.
    Data without items has other digests than the same data with them.

    Examples
    --------
    >>> from recsys_ndcg import RankedLists
    >>> one = RankedLists.from_tuples([("ann", "a", 4.5, 5), ("ann", "b", 3.0, 2)])
    >>> two = RankedLists.from_tuples([("ann", "b", 9.0, 2), ("ann", "a", 1.0, 5)])
    >>> (digest_truth(one) == digest_truth(two)).all()
    np.True_
    """
    users = hash_ids(lists.users)
    items = np.zeros(0, dtype=np.uint64) if lists.item_ids is None else hash_ids(lists.item_ids)

    def digests(block: tuple[int, int]) -> NDArray[np.uint32]:
        some, of_user = lists.slice_users(*block), users[slice(*block)]
        owner = np.repeat(np.arange(len(some)), some.n_unlisted)
        parts = (
            (some.user_of_row, some.item_codes, some.true),
            (owner, some.unlisted.get("item"), some.unlisted_true),
        )
        total = np.zeros(len(some), dtype=np.uint64)
        for user, codes, true in parts:
            labelled = np.flatnonzero(~np.isnan(true))
            columns = {"user": of_user[user[labelled]], "true": true[labelled] + 0.0}  # -0.0 is 0.0
            if codes is not None:
                columns["item"] = items[codes[labelled]]
            rows = pd.util.hash_pandas_object(pd.DataFrame(columns), index=False).to_numpy()
            np.add.at(total, user[labelled], rows)
        return total.astype(np.uint32)

    return np.concatenate(
        map_in_threads(digests, split_users(lists.offsets + lists.unlisted_offsets))
    )


def hash_ids(ids: Ids) -> NDArray[np.uint64]:
    """Return a number for each id, of itself alone: the same in every process and every array."""
    if ids.dtype.kind in "mM":
        ids = ids.astype(f"{ids.dtype.kind}8[ns]").astype(np.int64)
    if ids.dtype.kind in "ib" or (ids.dtype.kind == "u" and ids.max(initial=0) <= _MOST):
        return _numbers(ids.astype(np.int64))
    if pd.api.types.infer_dtype(ids, skipna=False) == "string":
        with suppress(UnicodeEncodeError):  # half a character, which has no bytes
            return _numbers(ids.astype(object))
    values = ids.tolist()
    whole = np.array([_is_whole(one) for one in values], dtype=bool)
    others = [one if isinstance(one, str) else repr(one) for one in values]
    found = np.empty(len(values), dtype=np.uint64)
    found[whole] = _numbers(np.array([int(one) for one in ids[whole]], dtype=np.int64))
    text = [one if one.isascii() or is_encodable(one) else ascii(one) for one in others]
    found[~whole] = _numbers(np.array(text, dtype=object)[~whole])
    return found


def _is_whole(one: Any) -> bool:
    """Tell whole numbers, however they are written."""
    if isinstance(one, float):
        return abs(one) < _WHOLE and one == int(one)
    return isinstance(one, int) and _LEAST <= one <= _MOST


def _numbers(values: NDArray[Any]) -> NDArray[np.uint64]:
    return np.asarray(pd.util.hash_array(values, categorize=False), dtype=np.uint64)
