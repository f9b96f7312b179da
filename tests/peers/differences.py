"""Where a preset does not equal its library on the drawn data, and why; each must differ."""

from __future__ import annotations

_ONE_RANK = "it gives tied items one rank, cut to a whole number"

#: how far a library's own arithmetic allows to agree, by preset; 1e-12 for the others
TOLERANCES = {
    "torchmetrics": 1e-6,  # single precision
    "tensorflow_ranking": 1e-6,
    "recbole": 5.1e-5,  # four decimals
}

#: (preset, case, metric) to the reason
DIFFERENCES = {
    ("evidently", case, metric): _ONE_RANK
    for metric in ("ndcg", "precision", "recall", "rr")
    for case in ("ties", "everything")
}
