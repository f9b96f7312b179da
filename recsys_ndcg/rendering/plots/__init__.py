"""Charts of plain numbers, each with a text alternative; they need Vega-Altair, the rest not."""

from recsys_ndcg.rendering.plots.charts import described, svg
from recsys_ndcg.rendering.plots.difference_per_user import difference_per_user
from recsys_ndcg.rendering.plots.intervals_by_tier import intervals_by_tier
from recsys_ndcg.rendering.plots.score_by_activity import score_by_activity
from recsys_ndcg.rendering.plots.score_by_cutoff import score_by_cutoff
from recsys_ndcg.rendering.plots.users_against_chance import users_against_chance

__all__ = [
    "described",
    "difference_per_user",
    "intervals_by_tier",
    "score_by_activity",
    "score_by_cutoff",
    "svg",
    "users_against_chance",
]
