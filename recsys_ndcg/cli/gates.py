"""Gates for pipelines: what must hold of a score, lest the program ends with 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from recsys_ndcg.cli.options import MARGIN, USERS, complete, given_options, metric_of, option
from recsys_ndcg.cli.output import complain
from recsys_ndcg.errors import InvalidInputError, is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recsys_ndcg.comparison import Gate
    from recsys_ndcg.metrics import Metric

_FAILED = 1


class Limit(NamedTuple):
    """What the mean of a metric may not go beyond.

    Parameters
    ----------
    metric : Metric
        Below its limit it fails, or above it, if it is an error.
    value : float
        The limit.
    """

    metric: Metric
    value: float

    def gate(self, row: Any, of: str = "") -> Gate:
        """Tell whether a model passes, by its row in a table of means and users."""
        from recsys_ndcg.comparison import Gate

        name, mean = str(self.metric), row["mean"]
        if math.isnan(mean):
            return Gate(passed=False, reason=f"No user has a score in {name}{of}.")
        more = self.metric.greater_is_better
        bad = mean < self.value if more else mean > self.value
        side = f"{'' if bad else 'not '}{'below' if more else 'above'}"
        reason = (
            f"The mean {name}{of} is {mean:.6g} over {row['users']:.0f} users, {side} "
            f"{self.value:g}."
        )
        return Gate(passed=not bad, reason=reason)


def _limit(option: str, text: str, k: Sequence[int]) -> Limit:
    name, equals, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not (equals and name.strip() and is_number(value)):
        msg = f"{option}: {text!r} is not of the form metric=number, such as ndcg@10=0.8."
        raise InvalidInputError(msg)
    metric = metric_of(name, option, k)
    other = "--fail-over" if option == "--fail-under" else "--fail-under"
    if metric.greater_is_better != (option == "--fail-under"):
        better = "more" if metric.greater_is_better else "less"
        msg = (
            f"{option} {text}: {better} is better in {metric}, so give {other} {metric}={value:g}."
        )
        raise InvalidInputError(msg)
    if metric.bounded and not 0 <= value <= 1:
        msg = f"{option} {text}: {metric} lies between 0 and 1, so that this says nothing."
        raise InvalidInputError(msg)
    return Limit(metric, value)


@dataclass(frozen=True)
class Gates:
    """Which means are good enough, and which model the others may not be worse than."""

    fail_under: list[str] | None = option(
        "Exit with 1 if the mean of a metric is below this: ndcg@10=0.8. May be repeated."
    )
    fail_over: list[str] | None = option(
        "Exit with 1 if the mean of an error is above this: rmse=0.95. May be repeated."
    )
    fail_if_worse: str | None = option(
        "Exit with 1 unless it is shown that the models are not worse than this one by "
        "--margin or more: the name of one, or a file.",
        metavar="BASELINE",
    )
    metric: str | None = option(
        "In what --fail-if-worse compares.  [default: the first]", autocompletion=complete("metric")
    )

    def read(self, margin: float | None, k: Sequence[int]) -> tuple[list[Limit], list[Metric]]:
        """Return the limits of means, and in what --fail-if-worse compares.

        That is nothing for the first metric, or without a baseline.

        Raises
        ------
        InvalidInputError
            A limit is no metric with a number, or is on the wrong side; the margin is missing, or
            an option has no baseline to be about.
        """
        given = {"--fail-under": self.fail_under, "--fail-over": self.fail_over}
        limits = [_limit(one, text, k) for one, texts in given.items() for text in texts or []]
        late = [one for one in given_options(self) if not one.startswith("--fail")]
        if self.fail_if_worse is None and late:
            msg = f"{late[0]} is about --fail-if-worse, which is not given."
            raise InvalidInputError(msg)
        if self.fail_if_worse is not None and margin is None:
            msg = (
                "--fail-if-worse needs --margin: from which difference on a model is worse, such "
                "as --margin 0.005."
            )
            raise InvalidInputError(msg)
        return limits, [] if self.metric is None else [metric_of(self.metric, "--metric", k)]


@dataclass(frozen=True)
class Replacing(Gates):
    """What was measured before, and how far behind it one may be."""

    fail_if_worse: str | None = option(
        "Exit with 1 unless it is shown that this is not worse than BASELINE, a file of "
        "predictions or a saved report, by --margin or more.",
        metavar="BASELINE",
    )
    margin: float | None = option(MARGIN)
    alpha: float = option("How often what is worse by the margin may pass.", default=0.05)
    users: str = option(USERS, default="all", autocompletion=complete("users"))


def close(gates: Iterable[Gate], *, quiet: bool = False) -> None:
    """Say of each gate whether it passed and why, and end with 1 if one did not."""
    gates = list(gates)
    for one in gates:
        if not (quiet and one.passed):
            complain("passed" if one.passed else "failed", one.reason)
    if not all(gates):
        raise typer.Exit(_FAILED)
