"""Test ratings that the model was trained on: their scores are not those of new ratings."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from recsys_ndcg.errors import shown, warn
from recsys_ndcg.surprise.trainsets import Ratings, inner_ids, places_of, raw_items, raw_users

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recsys_ndcg.arrays import Flags
    from recsys_ndcg.input.rows import Rows
    from recsys_ndcg.surprise.catalogue.candidates import Candidates

    Split = tuple[Any, list[Any]]

_ADVICE = "Test on ratings that are not in the trainset, as KFold and train_test_split give them."


class Leak(NamedTuple):
    """How many test ratings are of a user and an item that are in the trainset, too.

    Parameters
    ----------
    n_seen, n_rows : int
        So many of how many.
    first : pair of raw ids, optional
        The first user and item.
    """

    n_seen: int
    n_rows: int
    first: tuple[Any, Any] | None

    @classmethod
    def of(cls, seen: Flags, users: Sequence[Any], items: Sequence[Any]) -> Leak:
        """Count the pairs that are in the trainset."""
        first = int(seen.argmax())
        pair = (users[first], items[first]) if seen[first] else None
        return cls(int(seen.sum()), len(seen), pair)

    @property
    def told(self) -> str:
        """How a message begins."""
        share = f"{self.n_seen} of {self.n_rows}"
        share = f"All {self.n_rows}" if self.n_seen == self.n_rows else share
        return f"{share} test ratings, the first {shown(self.first)}"


def watched(splits: Iterable[Split], leaks: list[Leak]) -> Iterator[Split]:
    """Give splits on, and add to `leaks` what each of them has.

    A warning has to wait, for workers take the splits one by one, where no caller can be named.
    """
    for trainset, testset in splits:
        users, items = (list(map(itemgetter(side), testset)) for side in (0, 1))
        inner = (
            inner_ids(places_of(raw_users(trainset)), users),
            inner_ids(places_of(raw_items(trainset)), items),
        )
        seen = Ratings.by_user(trainset).hold(*inner, trainset.n_items)
        leaks.append(Leak.of(seen, users, items))
        yield trainset, testset


def warn_of_leaks(leaks: Sequence[Leak]) -> None:
    """Warn of splits whose testsets have ratings of their trainsets, once for all of them."""
    found = [one for one in leaks if one.n_seen]
    if not found:
        return
    n_seen, n_rows = sum(one.n_seen for one in leaks), sum(one.n_rows for one in leaks)
    leak = Leak(n_seen, n_rows, found[0].first)
    meaning = "the model has seen them, and scores better than on new ratings"
    if n_seen == n_rows:
        meaning = "the score is that of the training set, and says nothing of new ratings"
    msg = (
        f"{leak.told}, are in the trainset of their split ({len(found)} of {len(leaks)} splits): "
        f"{meaning}. {_ADVICE}"
    )
    warn(msg)


def warn_of_seen_labels(candidates: Candidates, labels: Rows) -> None:
    """Warn of test items that their user has rated in training."""
    users, items = (labels.columns[name].tolist() for name in ("user", "item"))
    inner = candidates.inner_users(users), candidates.inner_items(items)
    seen = candidates.ratings.hold(*inner, candidates.n_items)
    leak = Leak.of(seen, users, items)
    if not leak.n_seen:
        return
    meaning = "they are no candidates, and count as missed"
    if not candidates.excludes:
        meaning = "the model has seen them, and ranks them higher than new ones"
    if leak.n_seen == leak.n_rows:
        meaning = "the score is that of the training set"
        if candidates.excludes:
            meaning = "no list has any of them, so that nothing is measured"
    warn(f"{leak.told}, were rated in training: {meaning}. {_ADVICE}")
