"""Charts of plain numbers with text alternatives, the only files that need Vega-Altair."""

from recsys_ndcg.rendering.plots.vega import to_svg as to_svg
