"""Every script in examples/ runs without a warning and prints its numbers."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.commands import run_python
from tests.profiles import slow

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
SPARK = "on_spark.py"  # tests/scale runs it if Spark is installed
QUICK = EXAMPLES / "ndcg_implementations.py"
#: Libraries that an example needs, and whose warnings are not ours.
NEEDED = {
    "in_mlflow.py": ["mlflow", "sqlalchemy", "alembic"],
    "models_of_other_libraries.py": ["implicit", "threadpoolctl", "surprise", "pyarrow"],
}
#: Libraries that an example replaces if they are not installed, hidden from it here.
HIDDEN = {"from_other_libraries.py": ["implicit", "lenskit", "rectools"]}
HIDE = (
    "import runpy, sys; _, script, *hidden = sys.argv; sys.modules.update(dict.fromkeys(hidden)); "
    "runpy.run_path(script, run_name='__main__')"
)
#: tests/test_seeds.py has all worked numbers of the documents.
PRINTED = {
    "models_of_other_libraries.py": [
        "1 popular 0.1407 0.1298–0.1523 a 0.1670 0.0246",
        "popular is better than each of the other 2 models in ndcg@10:catalogue (whole"],
    "gallery.py": ["sample.html: 1.",
        "MB. No clear winner in ndcg@10 (rated items): KNN, SVD and biases cannot be"],
    "real_life_ndcg.py": ["1.314800 1.924048", "0.629220 0.684664", "0.333333 1.000000"],
    "catboost_sklearn.py": ["0.992739406476", "0.993268308697", "1.0 under undefined=1.0"],
    "surprise_walkthrough.py": [
        "0.961845355481", "0.970797492210", "'ndcg@10': nan, 'precision@10': nan}, left out: 1"],
    "evaluation_for_ir.py": ["12.0 6.478088", "gives 0.9664", "MAP@4: 0.583333", "MRR: 0.666667"],
    "in_a_training_loop.py": [
        "epoch 3: ndcg@10 0.1091, recall@10 0.1557 of 300 users",
        "recall@10 0.1392 0.1102 0.1743 0.0275", "merged: True",
        "error: 1 user came in an earlier batch, such as 'u000'"],
    "metrics_of_your_own.py": [
        "ndcg@10 0.9080 0.9020 0.6069 0.7659 300", "early@10 0.9267 0.9372 0.4218 0.8732 294",
        "top_error@10 0.6578 0.6578 NaN NaN 300",
        "early@10|defaults:50b6cd49|threshold:4.0|own:__main__:early#5da76996|users:294"],
    "from_other_libraries.py": [
        "implicit (not used: the most popular items): ndcg@10 0.1078 precision@10 0.0565",
        "recbole (not used: the most popular items): ndcg@10 0.1078 precision@10 0.0565"],
    "rmse_picks_the_wrong_model.py": [
        "rmse 100 f, 40 ep, reg 0.1, biased 0.8559 0.8513 0.0331 0.0392",
        "ndcg@10:catalogue 20 f, 10 ep, reg 0.1, unbiased 1.9134 0.7916 0.1295 0.1503",
        "better for 240 of 300 users, worse for 25. Of 16 models, they are in tiers"],
    "from_the_surprise_faq.py": [
        "precision@5 0.2559 0.3786",
        "recommend_from=threshold -0.5141 (82%), undefined=0.0 -0.1120 (18%)"],
    "in_mlflow.py": ["ndcg_at_10 0.8942 0.8962", "shrinkage_5/ndcg_at_10_tier: 1"],
    "test_quality_gate.py": [
        "better: passed. new against old in ndcg@10 (rated items): +0.0323 over 300 users",
        "worse: failed. new against old in ndcg@10 (rated items): -0.0228 over 300 users. The mea",
        "few users: failed. new against old in ndcg@10 (rated items): +0.0134 over 12 users. new"],
    "one_row_per_user.py": [
        "ann 3 2 0.9197 1.0 1.0", "Kaggle's MAP@12: 0.666667", "ndcg@10 0.790582"],
    "ndcg_implementations.py": ["0.950849602852", "0.566447862550", "left out: 1"],
}  # fmt: skip


@pytest.mark.parametrize(
    "script",
    [QUICK, *slow(*(one for one in SCRIPTS if one.name not in {QUICK.name, SPARK}))],
    ids=lambda script: script.name,
)
def test_an_example_prints_its_numbers(script: Path, tmp_path: Path) -> None:
    """Without a warning, and without leaving files behind."""
    needed = NEEDED.get(script.name, [])
    for library in needed:
        if find_spec(library) is None:
            pytest.skip(f"needs {library}: pip install -e '.[trackers]'")
    strict = [] if needed else ["-W", "error"]
    hidden = HIDDEN.get(script.name, [])
    words = ["-c", HIDE, str(script), *hidden] if hidden else [str(script)]
    variables = {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(tmp_path)}
    ran = run_python(*strict, *words, cwd=tmp_path, **variables)
    if needed:
        assert ran.stderr == ""
        assert not list(tmp_path.iterdir()), "it left something behind"
    output = " ".join(ran.stdout.split())  # pandas' column widths may vary
    assert [text for text in PRINTED.get(script.name, []) if text not in output] == []


def test_the_listed_examples_exist() -> None:
    """So that a renamed script does not lose its numbers."""
    assert {*PRINTED, QUICK.name, SPARK} <= {script.name for script in SCRIPTS}
