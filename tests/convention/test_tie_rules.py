"""The table of rules for ties."""

from __future__ import annotations

from typing import get_args

from recsys_ndcg.convention import TIE_RULES
from recsys_ndcg.convention.tie_rules import TieRuleName


def test_every_rule_has_a_row() -> None:
    """And editors offer those that there are."""
    assert get_args(TieRuleName) == tuple(TIE_RULES)


def test_only_one_rule_orders_nothing() -> None:
    """The default; two rules never order in the same way."""
    assert [name for name, rule in TIE_RULES.items() if not rule.by] == ["expected"]
    assert len({rule[1:] for rule in TIE_RULES.values()}) == len(TIE_RULES)
