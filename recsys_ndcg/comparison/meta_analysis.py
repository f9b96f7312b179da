"""across: the same models compared on several data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.calls import take_options
from recsys_ndcg.comparison.compared_models import check_model
from recsys_ndcg.comparison.comparison import Comparison
from recsys_ndcg.comparison.document import show_table
from recsys_ndcg.comparison.model_scores import reject_differences
from recsys_ndcg.comparison.remarks import find_missing_lists
from recsys_ndcg.comparison.verdict import judge
from recsys_ndcg.errors import (
    InvalidInputError,
    check_level,
    quote,
)
from recsys_ndcg.files import to_json_value
from recsys_ndcg.findings import Finding, HasFindings, write_sentences, write_verdict
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.rendering import (
    Charts,
    Document,
    Renderable,
    Section,
    ShownTable,
    list_first,
    plots,
    pluralise,
)
from recsys_ndcg.report import build_remarks_section, build_signatures_section, fold_findings
from recsys_ndcg.scoring import find_metric_name
from recsys_ndcg.significance import CORRECTIONS, combine_effects, find_critical_t

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.comparison.compared_models import ComparedModels
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring import Signature

#: Fields of a signature that belong to the data, not to how the metric is computed.
_OF_THE_DATA = {"users", "train", "catalogue", "features", "base", "groups", "short_below"}
#: Fields that may differ, with a remark.
_REMARKED = ("threshold", "max_grade", "version")
_ENOUGH = 5  # data sets: with fewer, there is a remark
_MANY = 10  # data sets: with no more, they show roughly how much data sets vary
_MAX_NAMED = 3  # pairs and data sets in a sentence
_MAX_CHARTS = 4  # pairs with a chart on a page
_TESTED = ("tested_low", "tested_high")  # intervals of the data sets' own tests
_COUNTS = ("datasets", "wins_a", "wins_b", "tied")
_COMBINED = ("mean_d_z", "mean_d_z_low", "mean_d_z_high", "prediction_low", "prediction_high")
_PAIRS_LEAD = (
    "Each pair of models over all data sets: in how many each is significantly better, and the "
    "mean standardised difference."
)
_DIFFERENCES_LEAD = "Each pair of models in each data set, by the data set's own comparison."


@dataclass(frozen=True, eq=False, repr=False)
class MetaAnalysis(HasFindings, Renderable):
    """The same models on several data sets, as `across` returns them. It never changes.

    Parameters
    ----------
    comparisons : mapping of str to Comparison
        The comparison on each data set, by its name.
    metric : str
        The name of the metric.
    alpha : float
        The significance level of the means over data sets; intervals have the level 1 - alpha.

    Attributes
    ----------
    differences : pandas.DataFrame
        A row per pair of models and data set.
    pairs : pandas.DataFrame
        A row per pair of models.
    verdict : str
        The result in two or three sentences.
    remarks : list of str
        Limits of what the numbers show, a sentence each.
    findings : pandas.DataFrame
        A row per finding of the verdict and the remarks.
    """

    comparisons: Mapping[str, Comparison]
    metric: str
    alpha: float = 0.05

    @property
    def datasets(self) -> list[str]:
        """The names of the data sets, in the order given."""
        return list(self.comparisons)

    @property
    def models(self) -> list[str]:
        """The names of the models that all data sets have, in the order of the first one."""
        first, *others = self.comparisons.values()
        return [one for one in first.models if all(one in other.models for other in others)]

    @property
    def differences(self) -> pd.DataFrame:
        """A row per pair of models and data set, a minus b in the unit of the metric.

        Columns: a, b, dataset, users; difference, ci_low, ci_high, the interval of this difference
        alone, from its standard error; d_z, difference / standard deviation of the users'
        differences, with its standard error d_z_error, d_z_low and d_z_high; better, the model that
        is significantly better by the comparison's own corrected test, or None. An interval is NaN
        if no two users' differences differ.
        """
        return self._differences.drop(columns=[*_TESTED])

    @lazy_property
    def _differences(self) -> pd.DataFrame:
        parts = [self._read_differences(name) for name in self.comparisons]
        table = pd.concat(parts, ignore_index=True)
        pair = table.groupby(["a", "b"], sort=False).ngroup()
        return table.iloc[pair.argsort(kind="stable")].reset_index(drop=True)

    def _read_differences(self, dataset: str) -> pd.DataFrame:
        """Return the rows of one data set, each pair in the order of the models."""
        result = self.comparisons[dataset]._data.by_metric[self.metric]
        tests, direction = result.mean_tests, result.significant_direction
        place = {name: n for n, name in enumerate(self.models)}
        order = np.array([place.get(name, -1) for name in result.models])[result.pairs]
        some = (order >= 0).all(axis=1)
        order, tests = order[some], tests.take(some)
        turn = np.where(order[:, 0] > order[:, 1], -1, 1)
        difference, d_z = turn * result.sign * tests.difference, turn * result.sign * tests.d_z
        leader = turn * direction[some]
        a, b = np.array(self.models, dtype=object)[np.sort(order, axis=1)].T
        critical = find_critical_t(self.alpha, tests.freedom)
        reach = np.where(tests.sd_difference > 0, critical, np.nan)
        half, d_z_half = reach * tests.standard_error, reach * tests.d_z_error
        ends = np.sort([difference - half, difference + half], axis=0)
        if result.measurement.is_bounded:
            ends = ends.clip(-1, 1)
        better = np.where(leader > 0, a, np.where(leader < 0, b, None))
        tested = np.sort(turn * result.sign * np.stack([tests.low, tests.high]), axis=0)
        if not result.intervals_agree or result.testing.alpha != self.alpha:
            tested[:] = np.nan
        return pd.DataFrame(
            {
                "a": a,
                "b": b,
                "dataset": dataset,
                "users": tests.users,
                "difference": difference,
                "ci_low": ends[0],
                "ci_high": ends[1],
                "d_z": d_z,
                "d_z_error": tests.d_z_error,
                "d_z_low": d_z - d_z_half,
                "d_z_high": d_z + d_z_half,
                "better": pd.Series(better, dtype=object),  # text would turn None into NaN
                **dict(zip(_TESTED, tested, strict=True)),
            }
        )

    @property
    def pairs(self) -> pd.DataFrame:
        """A row per pair of models, over the data sets.

        Columns: a, b; datasets, how many compare the pair; wins_a and wins_b, in how many of them
        each model is significantly better by that comparison's own test; tied, in how many neither
        is; mean_d_z with mean_d_z_low and mean_d_z_high, the mean of d_z by a random-effects model;
        prediction_low and prediction_high, the interval of the true d_z in one more data set, for
        three data sets or more; tau, the standard deviation of the true d_z between data sets; p
        of a mean of 0, and p_corrected by Holm's method for the number of pairs; reason, why there
        is no mean, or "".

        See Also
        --------
        recsys_ndcg.significance.combine_effects : The formulas.
        """
        return self._pairs.copy()

    @lazy_property
    def _pairs(self) -> pd.DataFrame:
        groups = self._differences.groupby(["a", "b"], sort=False)
        table = pd.DataFrame([self._combine(rows) for _, rows in groups])
        corrected = CORRECTIONS["holm"].correct(table["p"].to_numpy())
        table.insert([*table].index("reason"), "p_corrected", corrected)
        return table

    def _combine(self, rows: pd.DataFrame) -> dict[str, Any]:
        """Return the row of one pair, from its rows of data sets."""
        a, b = rows[["a", "b"]].iloc[0]
        known = rows[rows["d_z_low"].notna()]
        mean = combine_effects(known["d_z"], known["d_z_error"] ** 2, self.alpha)
        reason = "" if len(known) > 1 else "a mean over data sets needs two with a d_z"
        wins_a, wins_b = int((rows["better"] == a).sum()), int((rows["better"] == b).sum())
        counts = {"datasets": len(rows), "wins_a": wins_a, "wins_b": wins_b}
        counts["tied"] = len(rows) - wins_a - wins_b
        numbers = dict(zip((*_COMBINED, "tau", "p"), mean, strict=True))
        return {"a": a, "b": b, **counts, **numbers, "reason": reason}

    @property
    def _ranked_pairs(self) -> pd.DataFrame:
        """The pairs, the smallest p first, then those with most wins; with winner and loser."""
        table = self._pairs.assign(wins=self._pairs[["wins_a", "wins_b"]].max(axis=1))
        ordered = table.sort_values(["p", "wins"], ascending=[True, False], kind="stable")
        is_first = self._sign * ordered["mean_d_z"] > 0
        a, b = ordered["a"], ordered["b"]
        return ordered.assign(winner=a.where(is_first, b), loser=b.where(is_first, a))

    @property
    def _first(self) -> Comparison:
        return next(iter(self.comparisons.values()))

    @property
    def _sign(self) -> int:
        return self._first._data.by_metric[self.metric].sign

    @property
    def _signatures(self) -> dict[str, Signature]:
        return {name: each.signature(self.metric) for name, each in self.comparisons.items()}

    @property
    def verdict(self) -> str:
        """The result in two or three sentences: the data sets one by one, and their mean."""
        return str(write_verdict(self._judge()))

    def _judge(self) -> list[Finding]:
        result, pairs = self._first._data.by_metric[self.metric], self._ranked_pairs
        if len(self.datasets) == 1:
            return judge(result)
        names = {"metric": self.metric, "ranked": result.ranked}
        if len(pairs) == 1:
            return [*_judge_pair(pairs.to_dict("records")[0], names, self.alpha)]
        return [*_judge_pairs(pairs, names, self.alpha, len(self.datasets))]

    @property
    def remarks(self) -> list[str]:
        """Limits of what the numbers show, a sentence each."""
        return write_sentences(self._find_remarks())

    @property
    def _findings(self) -> list[Finding]:
        return [*self._judge(), *self._find_remarks()]

    def _find_remarks(self) -> list[Finding]:
        data = {name: each._data for name, each in self.comparisons.items()}
        has_predictions = bool(self._pairs["prediction_low"].notna().any())
        return [
            *_find_missing_lists(data, self.models),
            *_find_few(len(data), self.alpha, has_predictions=has_predictions),
            *_find_left_out({name: each.models for name, each in self.comparisons.items()}),
            *_find_different_choices(self._signatures),
            *_find_different_tests(data),
            *(_find_missing_means(self._pairs) if len(data) > 1 else ()),
        ]

    def plot(self, *, a: str | None = None, b: str | None = None) -> alt.ConcatChart:
        """Return a forest plot of two models: their difference and d_z in each data set.

        Parameters
        ----------
        a, b : str, optional
            The models, in any order; by default the pair whose mean d_z has the smallest p.

        Raises
        ------
        InvalidInputError
            Only one model is given, or no data set compares the two.
        MissingExtraError
            Vega-Altair is not installed.
        """
        if (a is None) != (b is None):
            msg = "A forest plot is of two models. Pass both a= and b=, or neither."
            raise InvalidInputError(msg)
        every: Any = self._ranked_pairs.to_dict("records")
        if a is not None and b is not None:
            pair = {check_model(a, self.models), check_model(b, self.models)}
            every = [row for row in every if {row["a"], row["b"]} == pair]
        if not every:
            msg = f"No data set compares {quote(a)} with {quote(b)}."
            raise InvalidInputError(msg)
        pair = every[0]
        table = self._differences
        table = table[(table["a"] == pair["a"]) & (table["b"] == pair["b"])]
        options: dict[str, Any] = {"lower_is_better": self._sign < 0, "level": 1 - self.alpha}
        return plots.plot_forest(table, pair, self.metric, **options)

    def _document(self, *, with_verdict: bool = True) -> Document:  # noqa: ARG002 - it always has one
        """Return the document: the pairs, the verdict, remarks, the data sets, signatures."""
        models, datasets = f"{len(self.models)} models", pluralise(len(self.datasets), "data set")
        names = ", ".join(list_first(self.datasets, _MAX_NAMED))
        effects = f"random effects, Holm over {pluralise(len(self._pairs), 'pair')}"
        pairs, differences = [_build_pairs_table(self)], [_build_differences_table(self)]
        return Document(
            title=f"{models} on {datasets}",
            verdicts=[write_verdict(self._judge())],
            facts=f"{models}, {datasets} ({names}), {effects}, alpha {self.alpha:g}",
            sections=[
                Section("pairs", "Over all data sets", _PAIRS_LEAD, pairs),
                build_remarks_section(self._find_remarks()),
                Section("differences", "In each data set", _DIFFERENCES_LEAD, differences),
                build_signatures_section(self._signatures),
            ],
            names_to_shorten=[*self.models, *self.datasets, self.metric],
        )

    def _page(self, command: str | None = None) -> Document:
        """Return the document of the HTML page, with forest plots of the first pairs."""
        document = self._document()
        pairs, remarks, differences, _ = document.sections
        drawn = self._ranked_pairs[["a", "b"]].head(_MAX_CHARTS).to_numpy()
        charts = [Charts(self.plot(a=a, b=b)) for a, b in drawn]
        lead = f"{pairs.lead} The pairs with the smallest p are drawn."
        pairs = replace(pairs, lead=lead, parts=[*pairs.parts, *charts])
        remarks = replace(remarks, parts=[*remarks.parts, fold_findings(self._findings)])
        how = build_signatures_section(self._signatures, command=command)
        return replace(document, sections=[pairs, remarks, differences, how])

    def to_frame(self) -> pd.DataFrame:
        """Return the differences, a row per pair of models and data set."""
        return self.differences

    def to_dict(self) -> dict[str, Any]:
        """Return the tables, the verdict and all findings as values for JSON; NaN becomes None."""
        return {
            "datasets": self.datasets,
            "models": self.models,
            "metric": self.metric,
            "alpha": self.alpha,
            "pairs": to_json_value(self._pairs),
            "differences": to_json_value(self.differences),
            "verdict": self.verdict,
            "remarks": self.remarks,
            "findings": to_json_value(self.findings),
            "signatures": {name: each.text for name, each in self._signatures.items()},
        }


@take_options()
def across(
    comparisons: Mapping[str, Comparison | str | Path],
    *,
    metric: str | Metric | None = None,
    alpha: float = 0.05,
) -> MetaAnalysis:
    """Compare the same models on several data sets.

    A test on one data set says which model is better for other users of that data set. Whether it
    is better on other data sets is another question, for which each data set is one observation.

    Parameters
    ----------
    comparisons : mapping of str to Comparison, str or Path
        The comparison on each data set, or the path of a saved one, by the name of the data set.
        Models have the same name in all of them.
    metric : str or Metric, optional
        By default the first metric of the first comparison that all have.
    alpha : float
        The significance level of the means over data sets; intervals have the level 1 - alpha.

    Returns
    -------
    MetaAnalysis
        The differences by data set, the wins of each model, the mean difference, a forest plot.

    Raises
    ------
    InvalidInputError
        The data sets have fewer than two models in common, or not the metric; the metric is
        computed in different ways; two data sets are the same.

    Notes
    -----
    Differences on different data sets have different units: an NDCG of 0.01 is a lot where most
    users tie, and little where they do not. So the mean is of d_z, the difference divided by the
    standard deviation of the users' differences, whose variance is about 1/n + d_z²/(2n). The
    data sets are a sample of those that could have been chosen (random effects).

    References
    ----------
    Demšar (2006), JMLR 7; Soboroff (2018), doi:10.1145/3209978.3209994; Hedges & Olkin (1985),
    Statistical Methods for Meta-Analysis

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> def compare_models(n_users):
    ...     good = {user: [(4, 5), (3, 2 + user % 2)] for user in range(n_users)}
    ...     bad = {user: [(user % 3, 5), (1.5, 2 + user % 2)] for user in range(n_users)}
    ...     return rn.compare({"good": good, "bad": bad})
    >>> found = rn.across({"small": compare_models(40), "large": compare_models(90)})
    >>> found.differences[["dataset", "difference", "d_z", "better"]].round(3)
      dataset  difference    d_z better
    0   small       0.190  1.395   good
    1   large       0.188  1.380   good
    >>> found.pairs[["wins_a", "wins_b", "tied", "mean_d_z", "mean_d_z_low"]].round(2)
       wins_a  wins_b  tied  mean_d_z  mean_d_z_low
    0       2       0     0      1.38         -0.18
    """
    check_level("alpha", alpha, such_as=0.05)
    read = _read_comparisons(comparisons)
    name = _choose_metric(read, metric)
    found = MetaAnalysis(read, name, float(alpha))
    if len(found.models) < 2:
        models = "; ".join(f"{one}: {', '.join(each.models)}" for one, each in read.items())
        msg = (
            f"The data sets have fewer than two models in common ({models}). Give a model the same "
            "name in every comparison."
        )
        raise InvalidInputError(msg)
    for choice, values, datasets in _compare_signatures(found._signatures):
        if choice not in _REMARKED:
            reject_differences(name, datasets, {choice: values})
    if found.differences.empty:
        msg = "No comparison tests two models that all data sets have. Compare all with all."
        raise InvalidInputError(msg)
    return found


# Reading and checking


def _read_comparisons(given: Any) -> dict[str, Comparison]:
    """Read the comparisons that are paths.

    Raises
    ------
    InvalidInputError
        A name is not text, a value is not a comparison, or two are of the same ratings.
    """
    if not isinstance(given, Mapping) or not given:
        msg = (
            "Pass comparisons by the names of their data sets, {'ml-100k': comparison, "
            f"'ml-1m': other}}, not {quote(given)}."
        )
        raise InvalidInputError(msg)
    read = {}
    for name, one in given.items():
        if not isinstance(name, str) or not name.strip():
            msg = f"The name of a data set must be text, not {quote(name)}."
            raise InvalidInputError(msg)
        found = Comparison.load(one) if isinstance(one, str | Path) else one
        if not isinstance(found, Comparison):
            msg = f"{name!r} must be a comparison or the path of a saved one, not {quote(one)}."
            raise InvalidInputError(msg)
        read[name] = found
    for (name, one), (other_name, other) in combinations(read.items(), 2):
        mine, theirs = one._data.first_model, other._data.first_model
        if np.array_equal(mine.users, theirs.users) and np.array_equal(
            mine.label_digests[:, 0], theirs.label_digests[:, 0]
        ):
            msg = (
                f"{name!r} and {other_name!r} are of the same users and ratings: one data set, "
                "which would count twice. Leave one out."
            )
            raise InvalidInputError(msg)
    return read


def _choose_metric(read: Mapping[str, Comparison], metric: str | Metric | None) -> str:
    """Return the name of the metric; raise if a data set does not have it."""
    first, *others = read.values()
    if metric is None:
        shared = [one for one in first.metrics if all(one in other.metrics for other in others)]
        if not shared:
            names = "; ".join(f"{name}: {', '.join(one.metrics)}" for name, one in read.items())
            msg = f"The data sets share no metric ({names}). Compare by the same metric on all."
            raise InvalidInputError(msg)
        metric = shared[0]
    for name, one in read.items():  # the first gives the full name, which all must have
        metric = find_metric_name(metric, one.metrics, f"The comparison on {name!r}")
    return str(metric)


def _compare_signatures(
    signatures: Mapping[str, Signature],
) -> Iterator[tuple[str, list[Any], tuple[str, str]]]:
    """Yield each choice in which a data set differs from the first, both values and data sets.

    Fields of the data are left out. The digest of a function is of its values for the data's
    grades: functions are compared by their names.
    """
    (first, signature), *others = signatures.items()
    for name, other in others:
        for choice, values in signature.differences(other).items():
            plain = [
                value.partition("#")[0] if isinstance(value, str) else value for value in values
            ]
            if choice not in _OF_THE_DATA and plain[0] != plain[1]:
                yield choice, plain, (first, name)


# Findings


def _find_missing_lists(
    data: Mapping[str, ComparedModels], models: Sequence[str]
) -> Iterator[Finding]:
    for dataset, each in data.items():
        scores = {model: each.model_scores[model] for model in models}
        for finding in find_missing_lists(scores, each.signatures):
            yield replace(finding, names={"dataset": dataset, **finding.names})


def _find_few(count: int, alpha: float, *, has_predictions: bool) -> Iterator[Finding]:
    """Find whether the data sets are few, for a mean or for the intervals of predictions."""
    if count < _ENOUGH:
        yield Finding("few_data_sets" if count > 1 else "one_data_set", {"datasets": count})
    if 3 < count <= _MANY and has_predictions:
        numbers = {"datasets": count, "most": _MANY, "alpha": alpha}
        yield Finding("rough_prediction_intervals", numbers)


def _find_left_out(models: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Find the models that some data sets do not have."""
    left_out = {
        model: without
        for model in dict.fromkeys(chain.from_iterable(models.values()))
        if (without := [dataset for dataset, names in models.items() if model not in names])
    }
    if left_out:
        names = {"models": [*left_out], "datasets": [*left_out.values()]}
        yield Finding("left_out_models", names=names)


def _find_different_choices(signatures: Mapping[str, Signature]) -> Iterator[Finding]:
    for choice, values, datasets in _compare_signatures(signatures):
        (value, other_value), (dataset, other_dataset) = map(str, values), datasets
        names = {"choice": choice, "value": value, "other_value": other_value}
        names |= {"dataset": dataset, "other_dataset": other_dataset}
        yield Finding("different_choice", names=names)


def _find_different_tests(data: Mapping[str, ComparedModels]) -> Iterator[Finding]:
    testings = [each.testing for each in data.values()]
    if len({(each.test, each.correction, each.family, each.alpha) for each in testings}) > 1:
        tests = [each.tested_by for each in data.values()]
        yield Finding("different_tests", names={"datasets": [*data], "tests": tests})


def _find_missing_means(pairs: pd.DataFrame) -> Iterator[Finding]:
    without = pairs[pairs["reason"] != ""]
    if len(without):
        names = {"model": without["a"].tolist(), "other": without["b"].tolist()}
        yield Finding("no_mean_over_data_sets", names=names)


def _judge_pair(
    row: Mapping[Any, Any], names: Mapping[str, str], alpha: float
) -> Iterator[Finding]:
    """Find which of two models is better, in each data set and on average."""
    names = {**names, "model": row["a"], "other": row["b"]}
    yield Finding("wins_by_data_set", {name: row[name] for name in _COUNTS}, names)
    if not row["reason"]:
        numbers = {name: row[name] for name in _COMBINED[:3]}
        numbers |= {"p": row["p_corrected"], "alpha": alpha}
        if row["p_corrected"] > alpha:
            yield Finding("no_winner_on_average", numbers, names)
        else:
            yield Finding("winner_on_average", numbers, {**names, "winner": row["winner"]})


def _judge_pairs(
    pairs: pd.DataFrame, names: Mapping[str, Any], alpha: float, n_datasets: int
) -> Iterator[Finding]:
    """Find in how many pairs a model is better in each data set, and which are on average."""
    wins = pairs[["wins_a", "wins_b"]]
    numbers = {
        "pairs": len(pairs),
        "datasets": n_datasets,
        "same_winner": int((wins.max(axis=1) == n_datasets).sum()),
        "other_winner": int((wins.min(axis=1) > 0).sum()),
    }
    yield Finding("winners_in_all_data_sets", numbers, names)
    clear = pairs[pairs["p_corrected"] <= alpha]
    if len(clear):
        better = {name: clear[name].tolist() for name in ("winner", "loser")}
        p = clear["p_corrected"].tolist()
        yield Finding("winners_on_average", {"p": p, "alpha": alpha}, {**names, **better})
    elif (pairs["reason"] == "").any():
        yield Finding("no_winners_on_average", {"alpha": alpha}, names)


# Tables


def _build_pairs_table(found: MetaAnalysis) -> ShownTable:
    """Return the pairs of models over all data sets."""
    table = found.pairs.rename(columns={"tied": "neither"})
    better = "lower is better" if found._sign < 0 else "higher is better"
    names = ["a", "b", "wins_a", "neither", "wins_b", "mean_d_z", "prediction"]
    if table["prediction_low"].isna().all():
        names.remove("prediction")
    note = (
        f"{found.metric}, {better}; number of data sets in which a is significantly better, "
        "neither, b; d_z: a minus b"
    )
    what = found._first._data, found.metric, "Pairs of models over all data sets"
    names += ["tau", "p", "p_corrected"]
    return show_table(*what, table, names, alpha=found.alpha, note=note)


def _build_differences_table(found: MetaAnalysis) -> ShownTable:
    """Return the pairs of models in each data set."""
    ends = {"ci_low": "difference_low", "ci_high": "difference_high"}
    table, what = found.differences.rename(columns=ends), "Pairs of models in each data set"
    names = ["a", "b", "dataset", "users", "difference_interval", "d_z_interval", "better"]
    note = f"{found.metric}; difference: a minus b; each interval is for one pair in one data set"
    how: Any = {"alpha": found.alpha, "n_left_aligned": 3, "note": note}
    return show_table(found._first._data, found.metric, what, table, names, **how)
