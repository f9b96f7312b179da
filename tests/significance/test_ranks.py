"""Intervals of ranks, and the letters that models share."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg.significance import assign_letters, find_rank_intervals, ranks
from tests.profiles import examples
from tests.significance.textbook import all_pairs


@st.composite
def answers(draw: Callable[[Any], Any], most: int = 8) -> tuple[int, list[tuple[int, int]], Any]:
    """Draw how many models there are, some pairs of them, and which are better."""
    models = draw(st.integers(1, most))
    pairs = draw(st.permutations(all_pairs(models)))
    pairs = [pair[::-1] if draw(st.booleans()) else pair for pair in pairs]
    pairs = pairs[: draw(st.integers(0, len(pairs)))]
    size, signs = len(pairs), st.sampled_from([-1, 0, 0, 1])
    better = draw(st.lists(signs, min_size=size, max_size=size))
    return models, pairs, better


def _each(text: str) -> set[str]:
    return set(re.findall(r"[a-zA-Z]|\(\d+\)", text))


@given(answers())
@examples(2)
def test_rank_intervals_count_the_better_and_the_worse_models(found: Any) -> None:
    """Models that were not compared may be either."""
    models, pairs, better = found
    low, high = find_rank_intervals(models, pairs, better)
    signs = [*zip(pairs, better, strict=True)]
    winners = [pair[0] if sign > 0 else pair[1] for pair, sign in signs if sign]
    losers = [pair[1] if sign > 0 else pair[0] for pair, sign in signs if sign]
    for model in range(models):
        assert (low[model], high[model]) == (1 + losers.count(model), models - winners.count(model))


@given(found=answers(), few=st.booleans(), chance=st.randoms(use_true_random=False))
@examples(2)
def test_models_that_do_not_differ_share_a_letter(found: Any, *, few: bool, chance: Any) -> None:
    """With each algorithm; no letter is superfluous, and the first model has an a."""
    models, pairs, better = found
    order = list(range(models))
    chance.shuffle(order)
    with pytest.MonkeyPatch.context() as patch:
        if few:
            patch.setattr(ranks, "_MANY", 1)
        texts = assign_letters(models, pairs, np.array(better) != 0, order)
    apart = {frozenset(pair) for pair, sign in zip(pairs, better, strict=True) if sign}
    assert all(texts)
    for pair in all_pairs(models):
        assert bool(_each(texts[pair[0]]) & _each(texts[pair[1]])) == (frozenset(pair) not in apart)
    used = sorted(set().union(*(_each(text) for text in texts)))
    assert used == [chr(ord("a") + place) for place in range(len(used))]
    assert "a" in texts[order[0]]
    for model, text in enumerate(texts):  # without the letter, two models would share none
        for letter in _each(text):
            others = [_each(other) for place, other in enumerate(texts) if place != model]
            assert any(_each(text) & other == {letter} for other in others) or text == letter
    firsts = [
        min(order.index(one) for one in range(models) if letter in texts[one]) for letter in used
    ]
    assert firsts == sorted(firsts)


@given(answers(4))
@examples(1)
def test_fewer_letters_are_impossible(found: Any) -> None:
    """For up to four models, by trying all sets of sets."""
    models, pairs, better = found
    apart = {frozenset(pair) for pair, sign in zip(pairs, better, strict=True) if sign}
    groups = [
        set(one)
        for size in range(1, models + 1)
        for one in combinations(range(models), size)
        if not any(frozenset(pair) in apart for pair in combinations(one, 2))
    ]
    wanted = [{one} for one in range(models)]
    wanted += [set(pair) for pair in all_pairs(models) if frozenset(pair) not in apart]
    fewest = next(
        count
        for count in range(1, 7)
        for some in combinations(groups, count)
        if all(any(one <= group for group in some) for one in wanted)
    )
    texts = assign_letters(models, pairs, np.array(better) != 0, range(models))
    assert len(set().union(*(_each(text) for text in texts))) == fewest


def test_more_than_52_letters_continue_as_numbers() -> None:
    """After z come the capitals."""
    pairs = np.array(all_pairs(55))
    texts = assign_letters(55, pairs, np.ones(len(pairs), dtype=bool), range(55))
    assert " ".join(texts[:2] + texts[25:27] + texts[51:]) == "a b z A Z (53) (54) (55)"


def test_many_pairs_of_twins_take_no_exponential_time() -> None:
    """Thirty pairs that differ have 2^30 largest sets of models that are alike."""
    pairs = np.array(all_pairs(60))
    different = np.array([second == first + 1 and first % 2 == 0 for first, second in pairs])
    texts = assign_letters(60, pairs, different, range(60))
    for (first, second), differs in zip(pairs, different, strict=True):
        assert bool(_each(texts[first]) & _each(texts[second])) != differs
