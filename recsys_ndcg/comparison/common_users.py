"""What must agree before models can be compared: users, ratings, and how they were measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input import check_same_ids

if TYPE_CHECKING:
    from recsys_ndcg.comparison.model_scores import ModelScores

CHANCE = "chance"
USERS = ("all", "common")
_PROTOCOLS = {
    "rated": "ranks each user's own test ratings",
    "supplied": "scores lists that were supplied",
    "catalogue": "ranks a whole catalogue",
}


def aligned(
    found: Mapping[str, ModelScores], users: str
) -> tuple[dict[str, ModelScores], dict[str, int], list[str]]:
    """Return contenders whose rows and columns mean the same.

    Behind them how many users each has whom not all have, and the metrics that not all have.

    Parameters
    ----------
    found : mapping
        By name.
    users : {'all', 'common'}
        Whether all must have the same users, or those that all have are compared.

    Raises
    ------
    InvalidInputError
        They were measured on other ratings, other users, or in another way; or share no metric.
    """
    measured = {name: set(one.names) for name, one in found.items()}
    known = list(dict.fromkeys(name for one in found.values() for name in one.names))
    shared = [name for name in known if all(name in names for names in measured.values())]
    if not shared:
        told = "; ".join(f"{name}: {', '.join(one.names)}" for name, one in found.items())
        msg = f"The models share no metric ({told}). Measure all of them in the same."
        raise InvalidInputError(msg)
    found = {name: one.in_metrics(shared) for name, one in found.items()}
    (first, reference), *rest = found.items()
    for name, one in rest:
        _check_signatures(first, reference, name, one)
        check_same_ids(reference.users, one.users, "user", (repr(first), repr(name)))
    found, left_out = _same_users(found, users)
    _check_truth(found)
    if all(np.isnan(one.per_user).all() for one in found.values()):
        msg = (
            f"No model has a score for any user in {', '.join(shared)}: nothing is relevant, or "
            "nothing is labelled. Choose another threshold or other metrics."
        )
        raise InvalidInputError(msg)
    return found, left_out, [name for name in known if name not in shared]


def _check_signatures(first: str, reference: ModelScores, name: str, one: ModelScores) -> None:
    """Refuse numbers that were computed in different ways."""
    for metric, theirs in one.signatures.items():
        told = reference.signatures[metric].differences(theirs)
        told.pop("users", None)  # how many have a score
        if "protocol" in told:
            mine_is, theirs_is = (_PROTOCOLS.get(each, each) for each in told["protocol"])
            msg = (
                f"{first!r} {mine_is}, {name!r} {theirs_is}: their {metric} cannot be compared. "
                "Measure both under one protocol."
            )
            raise InvalidInputError(msg)
        if told:
            what = ", ".join(
                f"{field} is {shown(here)} for {first!r} and {shown(there)} for {name!r}"
                for field, (here, there) in told.items()
            )
            msg = f"{metric} was computed in different ways: {what}. Measure both in the same way."
            raise InvalidInputError(msg)


def _same_users(
    found: Mapping[str, ModelScores], users: str
) -> tuple[dict[str, ModelScores], dict[str, int]]:
    known = {name: set(one.users.tolist()) for name, one in found.items()}
    common = set.intersection(*known.values())
    left_out = {name: len(one.users) - len(common) for name, one in found.items()}
    if not any(left_out.values()):
        return dict(found), {}
    if users == "all":
        name, extra = next(
            (name, user)
            for name, one in found.items()
            for user in one.users.tolist()
            if user not in common
        )
        lacking = next(other for other, them in known.items() if extra not in them)
        sizes = ", ".join(f"{other} has {len(them)}" for other, them in known.items())
        msg = (
            f"The models have different users ({sizes}; {len(common)} in common): user "
            f"{shown(extra)} of {name!r} is not among those of {lacking!r}. Give all of them the "
            "same test data, or compare the users they have in common: users='common' "
            "(--users common)."
        )
        raise InvalidInputError(msg)
    if not common:
        msg = f"No user is in all of {', '.join(found)}: nothing can be compared."
        raise InvalidInputError(msg)
    kept = {
        name: one.take(np.flatnonzero([user in common for user in one.users.tolist()]))
        for name, one in found.items()
    }
    return kept, left_out


def _check_truth(found: Mapping[str, ModelScores]) -> None:
    """Refuse models that were measured on other ratings."""
    (first, reference), *rest = found.items()
    for name, one in rest:
        other = (one.truth != reference.truth).any(axis=1)
        if other.any():
            user = reference.users[other][0]
            msg = (
                f"{first!r} and {name!r} were measured on different ratings: the items or the "
                f"true values of {int(other.sum())} of {len(other)} users are not the same, the "
                f"first is user {shown(user)}. Let all models predict the same test ratings, in "
                "the same folds."
            )
            raise InvalidInputError(msg)


def with_chance(found: Mapping[str, ModelScores]) -> dict[str, ModelScores]:
    """Return the models with random order of the same lists as the first of them.

    Raises
    ------
    InvalidInputError
        There is no chance level, or each model's lists have their own.
    """
    (name, first), *rest = found.items()
    scores = first.roles["chance"]
    known = ~np.isnan(scores)
    if not known.any():
        msg = (
            f"{name!r} has no chance level, so that chance cannot be the baseline: its metrics do "
            "not depend on the order, or it was averaged from what has none."
        )
        raise InvalidInputError(msg)
    for other, one in rest:
        others = one.roles["chance"]
        both = known & ~np.isnan(others)
        if not np.allclose(scores[both], others[both], rtol=1e-9):
            msg = (
                f"Chance is not one baseline here: random order of the lists of {name!r} and of "
                f"{other!r} scores differently, for they hold other items. Give n_items= or items= "
                "to RankedLists.from_labels, so that chance is that of the catalogue."
            )
            raise InvalidInputError(msg)
    chance = replace(
        first,
        roles={**first.roles, "own": scores},
        numerator=np.where(known, scores * first.denominator, 0.0),
        denominator=np.where(known, first.denominator, 0.0),
        runs=np.full((1, len(first.names)), np.nan),
        report=None,
    )
    return {CHANCE: chance, **found}
