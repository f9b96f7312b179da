"""Charts of plain numbers, each with a text alternative; they need Vega-Altair, the rest not."""

from recsys_ndcg.rendering.plots.vega import svg as svg
