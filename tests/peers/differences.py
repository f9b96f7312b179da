"""Where a preset does not equal its library on the drawn data, and why; each must differ."""

from __future__ import annotations

_ONE_RANK = "it gives tied items one rank, cut to a whole number"
_ONLY_ZEROS = "a user whose labels are all 0 has no DCG"

#: how far a library's own arithmetic allows to agree, by preset; 1e-12 for the others
TOLERANCES = {
    "torchmetrics": 1e-6,  # single precision
    "tensorflow_ranking": 1e-6,
    "torchrec": 1e-6,
    "ignite": 1e-6,
    "pyg": 1e-6,
    "keras_rs": 1e-6,
    "recbole": 5.1e-5,  # four decimals
}

#: (preset, case, metric) to the reason
DIFFERENCES = {
    ("evidently", case, metric): _ONE_RANK
    for metric in ("ndcg", "precision", "recall", "rr")
    for case in ("ties", "everything")
}
DIFFERENCES |= {
    ("rankereval", case, "dcg"): _ONLY_ZEROS for case in ("nothing_relevant", "everything")
}
DIFFERENCES["ignite", "half_stars", "ndcg"] = "a label of 0.5 is below its least relevant one"
