"""How models are compared: against which, for whom, by which test."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recsys_ndcg.cli.entries import check_there
from recsys_ndcg.cli.gates import checked_margin
from recsys_ndcg.cli.parameters import beginning
from recsys_ndcg.errors import InvalidInputError, nearest
from recsys_ndcg.significance.testing import CORRECTIONS, TESTS, Testing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def _users() -> Iterable[str]:
    from recsys_ndcg.comparison.common_users import USERS

    return USERS


def _segments() -> Iterable[str]:
    from recsys_ndcg.report.segments.built_in import BUILT_IN

    return BUILT_IN


_TEST_NAMES, _CORRECTION_NAMES = beginning(lambda: TESTS), beginning(lambda: CORRECTIONS)
Users = Annotated[
    str,
    typer.Option(
        help="all: different users are refused; common: those that all models have are compared.",
        autocompletion=beginning(_users),
    ),
]
Margin = Annotated[
    float | None,
    typer.Option(help="Up to which a difference does not matter, such as 0.005."),
]
Alpha = Annotated[float, typer.Option(help="How often equal models may be called different.")]


@dataclass(frozen=True)
class Statistics:
    """The options of a comparison."""

    baseline: Annotated[
        str | None,
        typer.Option(
            help="Against which model users are won and lost, or chance.  [default: the first]"
        ),
    ] = None
    by: Annotated[
        str | None,
        typer.Option(
            help="Also for segments of the users: a file of user, segment, or activity, "
            "list_length, relevant, cold.",
            autocompletion=beginning(_segments),
        ),
    ] = None
    train: Annotated[
        Path | None,
        typer.Option(help="What the models were trained on, for --by activity and --by cold."),
    ] = None
    users: Users = "all"
    test: Annotated[
        str,
        typer.Option(help=f"{', '.join(TESTS)}.", autocompletion=_TEST_NAMES),
    ] = "t"
    correction: Annotated[
        str | None,
        typer.Option(
            help=f"For many pairs: {', '.join(CORRECTIONS)}.  [default: max-T, or holm]",
            autocompletion=_CORRECTION_NAMES,
        ),
    ] = None
    alpha: Alpha = 0.05
    margin: Margin = None
    draws: Annotated[int, typer.Option(help="Of signs, of users, and of what max-T needs.")] = (
        10_000
    )
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0

    def asked(self, models: Collection[str], other: str | None = None) -> dict[str, Any]:
        """Return what `recsys_ndcg.compare` is asked for, checked before anything is measured.

        Parameters
        ----------
        models : collection of str
            Their names.
        other : str, optional
            The one that stands in for a baseline that is not named.

        Raises
        ------
        InvalidInputError
            An option cannot be used.
        """
        from recsys_ndcg.comparison.common_users import CHANCE

        choices = {"alpha": self.alpha, "draws": self.draws, "seed": self.seed}
        how = Testing.of(self.test, self.correction or None, **choices)
        check_users(self.users)
        if self.baseline is not None and self.baseline not in {*models, CHANCE}:
            msg = (
                f"--baseline {self.baseline}: none of the models. {nearest(self.baseline, models)}"
            )
            raise InvalidInputError(msg)
        if self.by is not None and self.by not in _segments():
            check_there(Path(self.by))
        if self.train is not None:
            check_there(self.train)
        return {
            **asdict(how),
            "baseline": self.baseline or other,
            "by": self.by,
            "train": self.train,
            "users": self.users,
            "margin": None if self.margin is None else checked_margin(self.margin),
        }


def check_users(users: str) -> None:
    """Refuse what does not say whose scores are compared.

    Raises
    ------
    InvalidInputError
        There is no such choice.
    """
    if users not in _users():
        msg = f"--users: there is no {users!r}. {nearest(users, _users())}"
        raise InvalidInputError(msg)
