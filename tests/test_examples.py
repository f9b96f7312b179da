"""Every script in examples/ runs, without a warning, and prints the numbers it is about."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
ELSEWHERE = "on_spark.py"  # tests/scale runs it, where there is Spark
SCRIPTS = sorted(one for one in EXAMPLES.glob("*.py") if one.name != ELSEWHERE)
#: What an example cannot do without, and whose warnings are not ours.
NEEDED = {
    "in_mlflow.py": ["mlflow", "sqlalchemy", "alembic"],
    "models_of_other_libraries.py": ["implicit", "threadpoolctl", "surprise", "pyarrow"],
}

PRINTED = {
    "models_of_other_libraries.py": [
        "1 popular 0.1407 0.0113 0.1670 0.0246",
        "popular is better than each of the other 2 models in ndcg@10:catalogue (300 users",
    ],
    "gallery.py": ["sample.html: 1.", "MB. KNN, SVD and biases share the first tier of 4 models"],
    "real_life_ndcg.py": [
        "1.314800 1.784061",
        "1.314800 1.924048",
        "2.089570 2.810209",
        "1.000000 1.000000",
        "0.629220 0.684664",
        "2.352934 2.352934",
        "0.558792 0.817723",
        "6.554970525045",
        "0.200581 0.293525",
        "0.333333 1.000000",
    ],
    "catboost_sklearn.py": [
        "[3, 2, 2, 1, 2]",
        "11.984024240491",
        "0.992739406476",
        "1.000000000000",
        "6.466241679685",
        "0.993268308697",
        "nan by default",
        "1.0 under undefined=1.0",
    ],
    "surprise_walkthrough.py": [
        "89.398612931098",
        "78.321762840334",
        "85.987640634239",
        "75.117711712365",
        "0.961845355481",
        "0.959091177065",
        "0.970797492210",
        "0.967988423457",
        "[(0.5, 1), (3.5, 3), (4.5, 5)]",
        "'ndcg@10': 1.0, 'precision@10': 0.1}",
        "'precision@10': 0.333333}",
        "'ndcg@10': nan, 'precision@10': nan}, left out: 1",
    ],
    "evaluation_for_ir.py": [
        "0.6 1.000000",
        "0.6 0.477778",
        "12.0 8.648712",
        "12.0 6.478088",
        "0.833333",
        "DCG 8.26, ideal DCG 8.52, NDCG 0.9692",
        "DCG 8.65, ideal DCG 8.95, NDCG 0.9658",
        "gives 0.9694",
        "gives 0.9664",
        "MAP@4: 0.583333",
        "MRR: 0.666667",
    ],
    "in_a_training_loop.py": [
        "epoch 1: ndcg@10 0.0631, recall@10 0.0704 of 300 users",
        "epoch 3: ndcg@10 0.1091, recall@10 0.1557 of 300 users",
        "recall@10 0.1392 0.1073 0.1711 0.0275",
        "merged: True",
        "refused: 1 user came in an earlier batch, such as 'u000'",
    ],
    "metrics_of_your_own.py": [
        "ndcg@10 0.9080 0.9020 0.6069 0.7659 300",
        "early@10 0.9267 0.9372 0.4218 0.8732 294",
        "top_error@10 0.6578 0.6578 NaN NaN 300",
        "capture@10 0.6338 0.3904 0.5140 0.7707 300",
        "early@10|defaults:50b6cd49|threshold:4.0|own:__main__:early#5da76996|users:294",
    ],
    "from_other_libraries.py": [  # where none of them is installed
        "implicit (not used: the most popular items): ndcg@10 0.1078 precision@10 0.0565",
        "lenskit (not used: the most popular items): ndcg@10 0.1001 precision@10 0.0565",
        "rectools (not used: the most popular items): ndcg@10 0.1001 precision@10 0.0565",
        "recbole (not used: the most popular items): ndcg@10 0.1078 precision@10 0.0565",
    ],
    "rmse_picks_the_wrong_model.py": [
        "rmse 100 f, 40 ep, reg 0.1, biased 0.8559 0.8513 0.0331 0.0392",
        "ndcg@10:catalogue 20 f, 10 ep, reg 0.1, unbiased 1.9134 0.7916 0.1295 0.1503",
        "the most popular items - 0.7671 0.1402 0.1427",
        "better for 240 of 300 users, worse for 25. Of 16 models they are in tiers",
    ],
    "from_the_surprise_faq.py": [
        "precision@5 0.2559 0.3786",
        "recall@5 0.1290 0.7551",
        "recommend_from=threshold -0.5141 (82%), undefined=0.0 -0.1120 (18%)",
        "the same for 300 of 300 users",
    ],
    "in_mlflow.py": [
        "ndcg_at_10 0.8942 0.8962",
        "ndcg_at_10_users 289.0000 289.0000",
        "shrinkage=5: 289 users in its report",
        "shrinkage_5/ndcg_at_10_tier: 1",
        "The data do not tell shrinkage=0 and shrinkage=5 apart in ndcg@10",
    ],
    "test_quality_gate.py": [
        "better: passed. new against old in ndcg@10: +0.0323 over 300 users",
        "worse: failed. new against old in ndcg@10: -0.0228 over 300 users. It is worse",
        "few users: failed. new against old in ndcg@10: +0.0134 over 12 users. That it is not",
        "too few users to tell. If the difference stays as it is, about 61 would do.",
    ],
    "ndcg_implementations.py": [
        "0.950849602852",
        "0.566447862550",
        "1.000000000000",
        "'ascending': 8.0",
        "averaged over the lists: 0.830329672124",
        "pooled, sum over sum: 0.851179134461",
        "skipped: 1",
        "0.978072186983",
        "0.737826424708",
    ],
}


def output_of(script: Path, folder: Path) -> str:
    """Run a script as a reader would, every warning an error, and return the words it prints."""
    needed = NEEDED.get(script.name, [])
    for library in needed:
        if find_spec(library) is None:
            pytest.skip(f"needs {library}: pip install -e '.[trackers]'")
    strict = [] if needed else ["-W", "error"]
    ran = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, *strict, "-X", "utf8", str(script)],
        cwd=folder,  # what a script writes must not land in the repository
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(folder)},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, f"{script.name}:\n{ran.stderr}"
    if needed:
        assert ran.stderr == ""
        assert not list(folder.iterdir()), "it left something behind"
    return " ".join(ran.stdout.split())  # how wide pandas makes a table is not the point


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_an_example_runs_without_warnings_and_prints_its_numbers(
    script: Path, tmp_path: Path
) -> None:
    """New scripts are included; those that implement a document print its worked numbers."""
    output = output_of(script, tmp_path)
    missing = [digits for digits in PRINTED.get(script.name, []) if digits not in output]
    assert not missing


def test_the_documents_have_an_example_each() -> None:
    """A script that is renamed or removed takes its numbers along."""
    assert set(PRINTED) <= {script.name for script in SCRIPTS}
