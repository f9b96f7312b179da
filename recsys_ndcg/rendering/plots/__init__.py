"""Charts of plain numbers, each with a text alternative; they need Vega-Altair, the rest not."""

from recsys_ndcg.rendering.plots.a_against_b import a_against_b
from recsys_ndcg.rendering.plots.charts import described, svg
from recsys_ndcg.rendering.plots.difference_per_user import difference_per_user
from recsys_ndcg.rendering.plots.intervals_by_tier import intervals_by_tier
from recsys_ndcg.rendering.plots.score_by_activity import score_by_activity
from recsys_ndcg.rendering.plots.score_by_cutoff import score_by_cutoff
from recsys_ndcg.rendering.plots.trade_off import trade_off
from recsys_ndcg.rendering.plots.users_against_chance import users_against_chance

__all__ = [
    "a_against_b",
    "described",
    "difference_per_user",
    "intervals_by_tier",
    "score_by_activity",
    "score_by_cutoff",
    "svg",
    "trade_off",
    "users_against_chance",
]
