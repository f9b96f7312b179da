"""Charts of plain numbers, each with a text alternative; they need Vega-Altair, the rest not."""

from recsys_ndcg.rendering.plots.charts import svg as svg
