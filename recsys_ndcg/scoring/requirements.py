"""Why a measurement cannot be computed, and what to write instead.

What a metric needs is data (`Metric.list_requirements`); what lists, weights and choices need is
here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from recsys_ndcg.arrays import Flags
from recsys_ndcg.background import SOURCES, Background
from recsys_ndcg.convention import Convention, format_choice
from recsys_ndcg.errors import InvalidInputError, quote, suggest
from recsys_ndcg.lists import (
    CataloguePool,
    Facts,
    GroupedLists,
    format_rows,
    prepare_lists,
    remove_impossible,
)
from recsys_ndcg.metrics import (
    FITTING_KINDS,
    METRICS,
    Metric,
    Requirement,
    find_distances,
    sum_candidates,
)
from recsys_ndcg.ranking import GradedLists, Ranking, SortedLists, rank_sorted_lists
from recsys_ndcg.scoring.measurement import Measurement

_KINDS = {
    "number": "numbers", "category": "categories", "set": "sets", "vector": "vectors",
    "columns": "several columns",
}  # fmt: skip
_FITTING = {"jaccard": "sets, or columns of 0 and 1", "cosine": "sets, categories or vectors"}
_ENTRIES = {
    "rows": "recommended items have no entry",
    "unlisted": "labelled items outside the lists, which count in the denominator, have no entry",
    "history": "training rows have items without an entry",
    "candidates": "items of catalogue=, which chance reads, have no entry",
    "groups": "items of the catalogue, or relevant ones, have no entry",
}
_N_SHOWN = 3  # rows in a message


def find_objection(one: Measurement, facts: Facts, lists: GroupedLists | None = None) -> str:
    """Return why a measurement cannot be computed, and what to do; "" if it can.

    Parameters
    ----------
    one : Measurement
        The measurement.
    facts : Facts
        The facts of all the lists.
    lists : GroupedLists, optional
        The lists, for the first offending rows in the message.
    """
    return next(filter(None, _find_objections(one, facts, lists)), "")


def _find_objections(one: Measurement, facts: Facts, lists: GroupedLists | None) -> Iterator[str]:
    known = facts.background
    if one.convention.mean_over == "train" and (known is None or "train" not in known.known):
        yield f"`mean_over='train'` needs {SOURCES['train']}."
    if one.metric.needs:
        yield from _find_unknown(one, facts)
        if lists is not None and lists.background is not None:
            yield from _find_bad_rows(one, lists, lists.background)
    yield from _find_bad_lists(one, facts, lists)
    yield from filter(None, [find_weights_objection(one)])
    yield from _find_bad_numbers(one, facts, lists)


# what is known besides the lists


def _find_unknown(one: Measurement, facts: Facts) -> Iterator[str]:
    """Yield what a metric needs to know and is not known."""
    metric, convention, known = one.metric, one.convention, facts.background
    if facts.protocol == "rated":
        yield (
            f"{metric} measures what was recommended, but these lists are the users' own test "
            "ratings (protocol 'rated'). Give recommendations: `{'labels': test, 'results': "
            "lists} (None without labels), or rank the catalogue: evaluate_catalogue(), or in "
            f"cross-validation and searches '{metric}:catalogue'`."
        )
    if not facts.has_items:
        yield f"{metric} needs to know which items were recommended. Give the items' ids."
    if facts.is_catalogue and metric.k is None:
        yield f"{metric} of a ranked catalogue needs a cutoff. Write '{metric}@10'."
    needed = metric.find_sources(convention) - {"items"}
    if "seen" in metric.reads and convention.seen == "raise":
        needed |= {"train"}
    missing = needed if known is None else needed - known.known
    if missing:
        yield f"{metric} needs {'; '.join(SOURCES[name] for name in SOURCES if name in missing)}."
    try:
        for need in () if known is None else metric.list_requirements(convention):
            if find := _OF_BACKGROUND.get(need.kind):
                yield from find(one, need, known)
    except InvalidInputError as error:  # a column that cannot be read
        yield f"{metric}: {error}"


def _find_bad_column(one: Measurement, need: Requirement, known: Background) -> Iterator[str]:
    """Yield why a column of the features cannot be read."""
    metric, column = one.metric, one.metric.column
    if not need.of:  # it is not read
        if column and column not in known.features:
            yield f"{metric}: there is no column {column!r} of `features=`."
        return
    feature = known.get_feature(column)
    if feature.kind in need.of:
        return
    wanted = " or ".join(_KINDS[kind] for kind in need.of)
    what = f"the column {column!r} has" if column else "the features have"
    fits = [name for name, each in known.features.items() if each.kind in need.of]
    fix = f"Name such a column: '{metric.name}({fits[0]})@10'" if fits else "Add such a column"
    if feature.kind == "number":
        fix = f"Write them as text: {feature.code_for_categories}"
    yield f"{metric} needs {wanted}, but {what} {_KINDS[feature.kind]}. {fix}."


def _find_bad_distance(one: Measurement, _: Requirement, known: Background) -> Iterator[str]:
    """Yield why a column does not have the convention's distance."""
    metric, column, rule = one.metric, one.metric.column, one.convention.distance
    if rule == "cooccurrence":
        without = f"{metric.name}@{metric.k}" if metric.k else metric.name
        if column:
            yield (
                f"{metric} under `distance='cooccurrence'` would not read the column {column!r}: "
                f"this distance compares the training users of items. Write '{without}', or choose "
                "`distance='by_column'`."
            )
        return
    feature = known.get_feature(column)
    if callable(rule):
        some = np.flatnonzero(feature.is_known)[:2]
        find_distances(known, column, one.convention).measure(some, some)
    if not isinstance(rule, str) or rule not in _FITTING:
        return
    is_fit = feature.kind in FITTING_KINDS
    if rule == "jaccard" and feature.kind == "vector":
        is_fit = bool(np.isin(feature.vectors, (0.0, 1.0)).all())
    if not is_fit:
        name = f"the column {column!r}" if column else "all columns together"
        yield (
            f"{metric} under distance={rule!r} needs {_FITTING[rule]}, but {name} of the features "
            "has other entries. Choose distance='by_column' or 'category', or name another column."
        )


def _find_unknown_group(one: Measurement, need: Requirement, known: Background) -> Iterator[str]:
    """Yield why a group of items or users cannot be measured."""
    metric = one.metric
    if not need.of:
        labels = known.get_feature(metric.column).labels
        yield (
            f"{metric} has no category of items. Name one: "
            f"'{metric.name}({metric.column},item_group={labels[0] if labels else 'x'})@10'."
        )
        return
    if need.kind == "user group":
        names, text = [str(name) for name in known.groups], f"`groups=` has no group {need.of!r}"
    else:
        names = metric.assign_groups(known, one.convention)[1].tolist()  # type: ignore[attr-defined]
        where = f"in the column {metric.column!r}" if metric.column else "of items"
        text = f"there is no group {need.of!r} {where}"
    if need.of not in names:
        yield f"{metric}: {text}. {suggest(need.of, names)}"


# rows


def _find_bad_rows(one: Measurement, lists: GroupedLists, known: Background) -> Iterator[str]:
    """Yield which listed items a metric cannot measure, with the first."""
    metric, convention = one.metric, one.convention
    # the rows of a ranked catalogue are labels, too
    if "seen" in metric.reads and convention.seen == "raise" and not lists.pool.is_catalogue:
        fault = "listed items were in the user's training rows"
        if seen := _describe_rows(lists, lists.is_seen, fault):
            yield f"{metric}: {seen}. Leave them out of the lists, or choose `seen='count'`."
    item = np.asarray(lists.item_codes)
    if "cold_item" in metric.reads and convention.cold_item == "raise":
        fault = "listed items have no training rows"
        if cold := _describe_rows(lists, ~known.in_train[item], fault):
            yield f"{metric}: {cold}. Leave them out, or choose another cold_item, such as 'zero'."
    needs, kinds = metric.list_requirements(convention), ("estimates", "inside", "entries")
    for need in [each for kind in kinds for each in needs if each.kind == kind]:
        if need.kind == "inside":
            yield from _find_outside(need, lists, known)
        elif need.kind == "entries" and convention.missing_feature == "raise":
            yield from _find_missing_entries(metric, need, lists, known)
        elif need.kind == "estimates" and lists.order_only:
            yield (
                f"{metric} {need.of}, but these lists have only ranks. Give a column 'estimated', "
                f"or {need.why}."
            )


def _find_outside(need: Requirement, lists: GroupedLists, known: Background) -> Iterator[str]:
    """Yield which recommended items are outside all items."""
    inside = known.in_catalogue if need.of == "catalogue" else known.in_train
    is_outside = ~np.asarray(inside)[np.asarray(lists.item_codes)]
    if outside := _describe_rows(lists, is_outside, f"recommended items are not in {need.of}="):
        yield f"{outside}. Add them, or give `convention=Convention(outside='count')`, or 'ignore'."


def _describe_rows(lists: GroupedLists, rows: Flags, fault: str) -> str:
    """Return how many rows have a fault, with the first; "" if none has."""
    n_rows = int(rows.sum())
    return f"{n_rows} {fault}, the first {format_rows(lists, rows)}" if n_rows else ""


def _find_missing_entries(
    metric: Metric, need: Requirement, lists: GroupedLists, known: Background
) -> Iterator[str]:
    """Yield which items have no entry in the metric's column."""
    user, what = None, _ENTRIES.get(need.of, _ENTRIES["groups"])
    if need.of == "rows":
        user, item = lists.user_of_row, np.asarray(lists.item_codes)
    elif need.of == "unlisted":
        user, item = lists.user_of_label, np.asarray(lists.unlisted["item"])
    elif need.of == "history":
        user, item = lists.history
    else:
        counted = np.zeros(len(known.items), dtype=bool)
        within = known.is_candidate if need.of == "candidates" else known.in_catalogue
        if need.of != "relevant" and within is not None:
            counted |= within
        if need.of in ("relevant", "both"):
            counted[np.asarray(lists.unlisted["item"])] = True
        item = np.flatnonzero(counted)
    missing = np.flatnonzero(~known.get_feature(metric.column).is_known[item])
    if not len(missing):
        return
    first = missing[:_N_SHOWN]
    names = [quote(each) for each in np.asarray(lists.item_ids)[item[first]].tolist()]
    if user is not None:
        pairs = zip(lists.users[user[first]].tolist(), names, strict=True)
        names = [f"user {quote(each)} item {name}" for each, name in pairs]
    column = f"the column {metric.column!r} of the features" if metric.column else "the features"
    yield (
        f"{metric}: {len(missing)} {what} in {column}, the first {', '.join(names)}. Add them, "
        "or choose `missing_feature='drop'` or 'zero'."
    )


_OF_BACKGROUND: dict[str, Callable[..., Iterator[str]]] = {
    "column": _find_bad_column,
    "distance": _find_bad_distance,
    "group": _find_unknown_group,
    "user group": _find_unknown_group,
}


# lists


def _find_bad_lists(one: Measurement, facts: Facts, lists: GroupedLists | None) -> Iterator[str]:
    """Yield why lists cannot be ranked for a metric."""
    convention = one.convention
    if one.unlabelled_as is not None and facts.is_catalogue:
        yield "Unlabelled items of a catalogue are only counted: they cannot get a grade."
    if not one.metric.depends_on_order:
        if convention.impossible == "last" and facts.impossible:
            yield (
                f"`impossible='last'` lowers estimates, which {one} compares with ratings. "
                "Choose `impossible='rank'` or 'drop'."
            )
        if facts.order_only or facts.protocol != "rated":
            yield (
                f"{one} compares estimates with ratings, but these lists hold ranks, or "
                "scores that may be on another scale. Evaluate predictions of ratings."
            )
    limit = convention.recommend_from
    if limit is not None and "recommend_from" in one.metric.reads:
        # the plug-in's estimates of a catalogue are on the scale of the ratings
        is_other_scale = facts.protocol != "rated" and not facts.is_catalogue
        if facts.order_only or is_other_scale:
            yield (
                f"`recommend_from={limit!r}` is a limit on the scale of the ratings, but these "
                "lists hold ranks, or scores that may be on another scale. Leave it out, and "
                "give each user the items that were recommended."
            )
    if one.metric.own_ties is not None and facts.is_catalogue:
        yield f"{one} needs whole lists, which are not kept if the catalogue is ranked."
    first_tie = facts.first_tie_ranks.get(one.sort_key, 1)  # 1: unknown, so assume ties
    if not facts.has_items and not one.all_tied and np.isinf(first_tie):
        convention = convention.replace(ties="expected")  # without ties no rule is needed
    yield from find_order_objections(replace(one, convention=convention), facts, lists)


def find_order_objections(
    one: Measurement, facts: Facts, lists: GroupedLists | None
) -> Iterator[str]:
    """Yield why lists cannot be ordered under a convention."""
    convention, duplicates = one.convention, facts.duplicates
    placed, facts = facts.ranked_under, facts.apply_convention(convention)
    is_dropped = lists is not None and convention.impossible == "drop"
    kept = remove_impossible(lists) if lists is not None and is_dropped else lists

    def name_first(format_users: Callable[[GroupedLists], str]) -> str:
        return "" if kept is None else f", the first {format_users(kept)}"

    if convention.unlabelled == "raise" and facts.unlabelled:
        yield (
            f"{facts.unlabelled} items have no true value{name_first(_name_unlabelled)}. "
            "Label them, or choose `unlabelled='zero'` or 'filter'."
        )
    if convention.missing_user == "raise" and facts.missing:
        yield (
            f"{facts.missing} labelled users have no list{name_first(_name_missing)}. "
            "Recommend for them, or choose `missing_user='zero'` or 'skip'."
        )
    if not facts.has_items and convention.tie_rule.is_by_item:
        yield (
            f"`ties={convention.ties!r}` orders by item, but the data has no item ids. "
            "Give them, or choose another rule, such as `ties='expected'`."
        )
    if facts.merged and duplicates != convention.duplicates:
        yield (
            f"The lists were made with `duplicates={duplicates!r}`, which merged "
            f"{facts.merged} rows, but the convention has {convention.duplicates!r}. "
            "Use the same rule for both."
        )
    step = convention.tie_tolerance
    limit = float(np.finfo(np.float32).max) if isinstance(step, str) else step * 1e300
    largest = max(-facts.estimated.lowest, facts.estimated.highest)
    if step and not facts.order_only and largest > limit:
        yield f"`tie_tolerance={step!r}` is too small a step for estimates of this size."
    wanted = convention, one.threshold
    if placed is not None and (change := CataloguePool.find_changed_choice(placed, wanted)):
        name, old, new = change
        yield (
            f"These lists were ranked with {name}={format_choice(old)}. To evaluate with "
            f"{name}={format_choice(new)}, rank the catalogue again with it."
        )


def _name_unlabelled(lists: GroupedLists) -> str:
    users = lists.users[lists.pool.count_unlabelled(lists) > 0].tolist()
    return format_rows(lists, np.isnan(lists.true)) or f"user {users[0]!r}"


def _name_missing(lists: GroupedLists) -> str:
    return ", ".join(repr(user) for user in lists.users[lists.missing][:3].tolist())


# numbers


def find_weights_objection(one: Measurement) -> str:
    """Return why labels with weights cannot be measured; "" if they can."""
    if not (one.is_weighted and one.metric.needs_labels):
        return ""
    without = "leave out `weights=` or the column 'weight' (rename it if it is something else)"
    if not one.metric.takes_weights:
        return (
            f"{one} has no weighted form, as it is not a sum over labels. Measure dcg, ndcg, "
            f"precision or recall, or {without}."
        )
    if "ideal" in one.metric.reads and one.convention.ideal == "max":
        return f"`ideal='max'` has no weighted form: choose `ideal='global'`, or {without}."
    return ""


def _find_bad_numbers(one: Measurement, facts: Facts, lists: GroupedLists | None) -> Iterator[str]:
    """Yield why gains, weights of ranks or ties cannot be computed."""
    metric, convention = one.metric, one.convention
    if metric.uses_gains:
        # without an ideal `max_grade` is not read
        read = one if "ideal" in metric.reads else one.with_choices(ideal="global")
        yield from find_gain_objections(read, facts, lists)
    longest = facts.apply_convention(convention).longest
    for need in metric.list_requirements(convention):
        if need.kind == "never":
            yield need.why
        if need.kind == "weights":
            yield from filter(None, [need.of(metric.k or max(longest, 1))])
    if metric.uses_gains and "discount" in metric.reads:
        k = metric.k or longest
        depth = k if convention.ideal == "max" else min(k, longest)
        yield from filter(None, [convention.find_discount_objection(depth)])
    if one.tie_objection:
        rank = 1.0 if one.all_tied else facts.first_tie_ranks.get(one.sort_key, np.inf)
        if rank <= (metric.k or np.inf):
            yield one.tie_objection


def find_gain_objections(
    one: Measurement, facts: Facts, lists: GroupedLists | None
) -> Iterator[str]:
    """Yield why a grade in the lists, or for unlabelled items, has no usable gain."""
    convention = one.convention
    if convention.gain_needs_threshold and one.threshold is None:
        yield (
            f"`gain={convention.gain!r}` needs to know which items are relevant: pass "
            f"`threshold={facts.all_grades.suggest_threshold():g}`, for instance."
        )
        return
    grades = facts.find_grades(convention).values
    if one.unlabelled_as is not None:
        grades = np.append(grades, one.unlabelled_as)
    if fault := convention.find_faulty_grades(grades, one.threshold):
        bad, problem, advice = fault
        rows = "" if lists is None else format_rows(lists, np.isin(lists.true, bad))
        listed = ", ".join(str(grade) for grade in bad[:3].tolist())
        yield f"true: the grade {listed}{rows and f' ({rows})'} has {problem}; {advice}."


def find_mistake(facts: Facts, metric: str) -> str:
    """Return why a metric of data with these facts is meaningless; "" if it is not."""
    nothing_unlisted = math.isnan(facts.unlisted.highest)
    if facts.unlabelled == facts.ratings and nothing_unlisted:
        return (
            f"No item has a true value, which {metric} needs. Give the users' own ratings "
            "as 'true' (Surprise: r_ui), or labels: {'labels': test, 'results': lists}."
        )
    is_catalogue = facts.is_catalogue
    all_labelled = nothing_unlisted and not facts.unlabelled
    all_equal = all_labelled and facts.listed.lowest == facts.listed.highest
    has_ratings = is_catalogue or facts.protocol == "rated"
    if all_equal and has_ratings and facts.users > 1 and facts.ratings > 2:
        advice = (
            " of the test set instead."
            if is_catalogue
            else ": RankedLists.from_labels(test_ratings, predictions), or rank all items by the "
            "plug-in's evaluate_catalogue(algo, trainset, testset)."
        )
        return (
            f"Every true value is {facts.listed.lowest} ({facts.ratings} rows, {facts.users} "
            "users), so every order scores the same. If they come from Surprise's "
            f"build_anti_testset(), which fills in the mean, give the real ratings{advice}"
        )
    if facts.weights is not None and 0 < facts.weights.labels <= facts.weights.in_propensity:
        return (
            "The propensity was estimated from the very labels that it weights, which favours what "
            "the test set happens to hold. Pass propensity() the training rows."
        )
    return ""


# random order


def find_chance_objection(one: Measurement, facts: Facts, lists: GroupedLists) -> str:
    """Return why the score in random order is not known; "" if it is.

    Parameters
    ----------
    one : Measurement
        The measurement.
    facts : Facts
        The facts of all the lists.
    lists : GroupedLists
        The lists. If they are chosen from candidates, chance is the mean over all random choices,
        so the denominator must not depend on which items are chosen, either.
    """
    convention, metric, known = one.convention, one.metric, facts.background
    is_chosen = lists.pool.sizes is not None
    is_drawn = is_chosen or lists.pool.is_catalogue
    if metric.needs and is_chosen and known and known.is_candidate is None:
        return "only the number of candidates is known: pass catalogue="
    is_built_in = str(type(metric).denominator.__module__).startswith("recsys_ndcg.")
    if metric.same_denominator is None and not is_built_in:
        return "its class does not declare same_denominator"
    has_ideal = metric.uses_gains and "ideal" in metric.reads
    varies = (
        metric.same_denominator is False
        or (has_ideal and convention.ideal == "local")
        or convention.unlabelled == "filter"
        or (convention.unlisted == "ignore" and facts.unlisted.values.size > 0)
        or (convention.impossible != "rank" and facts.impossible > 0)
    )
    if is_chosen and varies:
        return "its denominator depends on which items are drawn"
    for need in metric.list_requirements(convention):
        if need.kind != "no chance" or (need.of and not is_drawn):
            continue
        has_items = known is not None and known.in_catalogue is not None
        if need.of == "catalogue" and has_items:
            continue
        if need.of != "few" or _has_many_pairs(metric, known, convention):
            return need.why
    return ""


def _has_many_pairs(metric: Metric, known: Background | None, convention: Convention) -> bool:
    """Return whether the candidates have too many different entries to compare all pairs."""
    if known is None or known.is_candidate is None:
        return False
    return bool(np.isnan(sum_candidates(known, metric.column, convention)).any())


def rank(
    lists: GroupedLists,
    convention: Convention,
    depth: int | None = None,
    *,
    threshold: float | None = None,
) -> Ranking:
    """Rank lists under a convention.

    Parameters
    ----------
    lists : GroupedLists
        The lists.
    convention : Convention
        All choices.
    depth : int, optional
        The number of ranks in the tables; None for the length of the longest list.
    threshold : float, optional
        The least grade of a relevant item.

    Raises
    ------
    InvalidInputError
        The lists cannot be ranked under the convention.

    Examples
    --------
    >>> from recsys_ndcg import Convention
    >>> from recsys_ndcg.lists import to_lists
    >>> lists = to_lists({"ann": [(2.0, 1), (4.5, 3), (2.0, 2)]})
    >>> rank(lists, Convention(), depth=2).gain
    array([[7., 2.]])
    """
    facts = Facts.of(lists, keep_distinct=not isinstance(convention.gain, str))
    one = Measurement(METRICS["dcg"](), convention, threshold)
    faults = (*find_order_objections(one, facts, lists), *find_gain_objections(one, facts, lists))
    InvalidInputError.raise_if(next(iter(faults), ""))
    prepared = prepare_lists(lists, convention)
    sorted_lists = SortedLists(prepared, convention, depth=depth)
    return rank_sorted_lists(GradedLists(prepared), sorted_lists, convention, threshold)
