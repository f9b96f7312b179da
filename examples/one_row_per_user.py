"""Recommendations with one row per user: a data frame of lists, a Kaggle pair, a BEIR folder.

Each number can be worked out by hand: the relevant items of the first user stand at ranks 1 and 3,
and that of the second user at rank 2.
"""

import json
import tempfile
from pathlib import Path

import pandas as pd

import recsys_ndcg as rn

# A data frame with a list in each row, the best first. Labels may be lists, too.
shown = pd.DataFrame({"user": ["ann", "bob"], "item": [["a", "x", "b"], ["y", "c"]]})
relevant = pd.DataFrame({"user": ["ann", "bob"], "item": [["a", "b"], ["c"]]})
report = rn.evaluate(labels=relevant, results=shown, metrics=["ndcg@3", "recall@3", "rr"])
print("Lists in a data frame:")
print(report.per_user.round(4).to_string())

folder = Path(tempfile.mkdtemp())

# A competition: ids in one cell, with blanks between them; MAP@12 is over min(12, relevant).
(folder / "solution.csv").write_text(
    "customer_id,prediction\nann,0108775015 0108775044\nbob,0110065001\n"
)
(folder / "submission.csv").write_text(
    "customer_id,prediction\nann,0108775015 0706016001 0108775044\nbob,0706016001 0110065001\n"
)
report = rn.evaluate(
    labels=folder / "solution.csv",
    results=folder / "submission.csv",
    columns={"user": "customer_id", "item": "prediction"},
    list_separator=" ",  # without it, what the other file has decides, and a warning says so
    metrics="map@12",
    convention=rn.Convention(ap_over="capped"),
)
print(f"\nKaggle's MAP@12: {report.mean['ap@12']:.6f}")

# BEIR: qrels/test.tsv with a heading, and results as {query: {document: score}}.
(folder / "qrels").mkdir()
(folder / "qrels" / "test.tsv").write_text(
    "query-id\tcorpus-id\tscore\nann\td1\t1\nann\td3\t2\nbob\td2\t1\n"
)
run = {"ann": {"d3": 0.9, "d9": 0.8, "d1": 0.7}, "bob": {"d7": 0.6, "d2": 0.5}}
(folder / "results.json").write_text(json.dumps(run))
report = rn.evaluate(
    {"qrels": folder / "qrels" / "test.tsv", "run": folder / "results.json"},
    metrics=["ndcg_cut_10", "recall_100"],
    convention="trec_eval",
)
print("\nBEIR's nDCG@10 and recall@100, as trec_eval computes them:")
print(report.mean.round(6).to_string())
