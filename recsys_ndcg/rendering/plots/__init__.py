"""Charts of plain numbers, each with a text alternative; they need Vega-Altair, the rest not."""
