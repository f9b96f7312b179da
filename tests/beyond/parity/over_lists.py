"""Coverage, Gini, entropy, personalization: numbers of all lists together."""

from tests.beyond.parity import Ask

ASKS = {
    ("elliot", "GiniIndex"): Ask("gini"),
    ("elliot", "ItemCoverage"): Ask("coverage"),
    ("elliot", "ShannonEntropy"): Ask("entropy"),
    ("evidently", "Personalization"): Ask("personalization"),
    ("evidently", "PopularityBias.coverage"): Ask("coverage"),
    ("evidently", "PopularityBias.gini"): Ask("gini"),
    ("lenskit", "ListGini"): Ask("gini"),
    ("lenskit", "ExposureGini(0.85)"): Ask("gini", {"patience": 0.85}),
    ("pyg", "LinkPredCoverage"): Ask("coverage"),
    ("pyg", "LinkPredPersonalization"): Ask("personalization"),
    ("recbole", "GiniIndex"): Ask("gini"),
    ("recbole", "ItemCoverage"): Ask("coverage"),
    ("recbole", "ShannonEntropy"): Ask("entropy"),
    ("recmetrics", "personalization"): Ask("personalization"),
    ("recmetrics", "prediction_coverage(catalogue)"): Ask("coverage"),
    ("recommenders", "catalog_coverage"): Ask("coverage"),
    ("recommenders", "distributional_coverage"): Ask("entropy"),
    ("recpack", "CoverageK"): Ask("coverage"),
    ("rectools", "CatalogCoverage"): Ask("coverage"),
    ("rectools", "CatalogCoverage(normalize)"): Ask("coverage(as=share)"),
    ("replay", "Coverage(pandas)"): Ask("coverage"),
    ("replay", "Coverage(polars)"): Ask("coverage"),
    ("warprec", "Gini"): Ask("gini"),
    ("warprec", "ItemCoverage"): Ask("coverage"),
    ("warprec", "ShannonEntropy"): Ask("entropy"),
}
