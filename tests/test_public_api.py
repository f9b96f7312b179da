"""The names that callers rely on."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import recsys_ndcg as rn
from recsys_ndcg.metrics import METRICS, parse

NAMES = {
    "Accumulator",
    "Comparison",
    "Convention",
    "DataWarning",
    "InvalidInputError",
    "Metric",
    "MissingExtraError",
    "RankedLists",
    "RecsysNdcgError",
    "Report",
    "Signature",
    "TextFormat",
    "UnknownMetricError",
    "average_precision_at_k",
    "compare",
    "dcg_at_k",
    "evaluate",
    "experiment",
    "jaccard_at_k",
    "load_runs",
    "metric",
    "ndcg_at_k",
    "power",
    "precision_at_k",
    "rbo",
    "recall_at_k",
    "reciprocal_rank",
    "reconcile",
}
METRIC_NAMES = [
    "judged",
    "cg",
    "dcg",
    "ndcg",
    "precision",
    "recall",
    "f1",
    "hit",
    "ap",
    "rr",
    "rprecision",
    "rbp",
    "auc",
    "rmse",
    "mse",
    "mae",
]
REPORT = [
    "per_user",
    "mean",
    "pooled",
    "summary",
    "audit",
    "baselines",
    "counts",
    "signature",
    "leaderboard",
    "explain",
    "to_markdown",
    "to_latex",
    "to_html",
    "to_dict",
    "save",
    "load",
]
LISTS = [
    "from_tuples",
    "from_surprise",
    "from_frame",
    "from_labels",
    "from_trec",
    "from_file",
    "from_arrays",
]
FIELDS = {
    "gain": "exponential",
    "discount": "log2",
    "ideal": "global",
    "unlabelled": "zero",
    "ties": "expected",
    "tie_tolerance": 0.0,
    "short_list": "k",
    "recall_over": "relevant",
    "ap_over": "relevant",
    "undefined": "skip",
    "missing_user": "zero",
    "unlisted": "count",
    "impossible": "rank",
    "mean_over": "all",
    "duplicates": "raise",
    "recommend_from": None,
    "max_grade": None,
}


def test_the_public_names_are_exactly_these() -> None:
    """Nothing appears or disappears by accident: at most 30 names, and the metrics' classes."""
    classes = {kind.__name__ for kind in METRICS.values()}
    assert set(rn.__all__) == NAMES | classes | {"__version__"}
    assert len(NAMES) <= 30
    for name in rn.__all__:
        assert hasattr(rn, name)


def test_what_is_not_imported_yet_is_there() -> None:
    """By its name, as an attribute, with a star, and in the list; the rooms of ours, too."""
    code = (
        "import sys, recsys_ndcg as rn\n"
        "assert not {'numpy', 'pandas'} & set(sys.modules)\n"
        "assert issubclass(rn.DataWarning, Warning) and rn.errors.DataWarning is rn.DataWarning\n"
        "assert not {'numpy', 'pandas'} & set(sys.modules)\n"
        "from recsys_ndcg import NDCG, Convention\n"
        "from recsys_ndcg import *\n"
        "assert {*rn.__all__, 'NDCG', '__version__'} <= {*dir(rn)}\n"
        "assert rn.metrics.METRICS['ndcg'] is NDCG and compare is rn.compare\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own


def test_every_metric_of_the_contract_exists_by_name_and_class() -> None:
    """`rn.NDCG(10)` and "ndcg@10" are the same thing."""
    assert set(METRICS) == set(METRIC_NAMES)
    for name, kind in METRICS.items():
        assert getattr(rn, kind.__name__) is kind
        assert kind.__name__ in dir(rn)
        assert str(kind()) == name
    assert str(rn.NDCG(10)) == "ndcg@10"
    assert parse("NDCG@10") == [rn.NDCG(10)]


@pytest.mark.parametrize("name", METRIC_NAMES)
def test_a_metric_reads_back_its_own_name(name: str) -> None:
    """With and without a cutoff."""
    kind = METRICS[name]
    for metric in [kind()] + ([kind(k=7)] if kind.cutoff != "none" else []):
        assert parse(str(metric)) == [metric]
        assert parse(str(metric).upper()) == [metric]


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    """Also with the metric classes found by name."""
    with pytest.raises(AttributeError, match="NDGC"):
        getattr(rn, "NDGC")  # noqa: B009 - mypy knows that it is none


def test_report_and_lists_have_what_the_contract_says() -> None:
    """Attributes and methods."""
    report = rn.evaluate({"ann": [(2.0, 1), (1.0, 2)]})
    for name in REPORT:
        assert hasattr(report, name), name
    for name in LISTS:
        assert hasattr(rn.RankedLists, name), name


def test_convention_has_its_fields_and_defaults() -> None:
    """In the order of the table, which is that of the signature."""
    convention = rn.Convention()
    assert {name: getattr(convention, name) for name in FIELDS} == FIELDS
    order = [part.split(":")[0] for part in convention.signature.split("|")]
    assert order == list(FIELDS)


def test_everything_after_the_data_is_keyword_only() -> None:
    """A second positional argument would be a guess."""
    parameters = list(inspect.signature(rn.evaluate).parameters.values())
    assert all(one.kind is one.KEYWORD_ONLY for one in parameters[1:])
    for name in LISTS:
        for one in inspect.signature(getattr(rn.RankedLists, name)).parameters.values():
            assert one.name not in {"columns", "duplicates"} or one.kind is one.KEYWORD_ONLY


@pytest.mark.parametrize(
    ("statement", "more"),
    [("import recsys_ndcg", "numpy pandas"), ("from recsys_ndcg import *", "")],
)
def test_importing_loads_nothing_heavy_and_prints_nothing(statement: str, more: str) -> None:
    """No optional library, and neither SciPy nor narwhals before they are needed."""
    heavy = {"scipy", "narwhals", "surprise", "rich", "typer", "polars", "jinja2", *more.split()}
    code = f"import sys; {statement}; print(sorted({heavy} & set(sys.modules)), end='')"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]"
    assert not done.stderr


OURS = {
    "LeaveLastOut",
    "LeaveNOut",
    "MostPopular",
    "TimeSplit",
    "UserKFold",
    "evaluate_catalogue",
    "make_measure",
    "predict_all",
    "rank_catalogue",
}


def test_the_plug_in_offers_its_names() -> None:
    """Each documented, and beside them all that Surprise offers in three modules."""
    surprise = pytest.importorskip("surprise")
    from recsys_ndcg import surprise as plug_in  # noqa: PLC0415 - an extra

    theirs = {*surprise.__all__, *surprise.model_selection.__all__, "accuracy"}
    errors = {"fcp", "mae", "mse", "rmse"}
    assert set(plug_in.__all__) == OURS | theirs | errors
    assert all(inspect.getdoc(getattr(plug_in, name)) for name in OURS)
    own = ["ap", "f1", "fcp", "hit", "mae", "mse", "ndcg", "precision", "recall", "rmse", "rr"]
    assert plug_in.accuracy.__all__ == own


def test_the_plug_in_says_what_to_install() -> None:
    """Where Surprise is not; the rest of the package does without."""
    code = (
        "import sys; sys.modules['surprise'] = None; import recsys_ndcg as rn\n"
        "try:\n    import recsys_ndcg.surprise\n"
        "except rn.MissingExtraError as error:\n    print(error)"
    )
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "Run: pip install " in done.stdout
    assert "[surprise]'" in done.stdout


def test_the_plug_in_imports_no_scipy() -> None:
    """Every worker of a search imports the plug-in, and has memory of its own."""
    pytest.importorskip("surprise")
    code = "import sys, recsys_ndcg.surprise; assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own


def test_the_plug_in_imports_where_the_home_directory_cannot_be_written() -> None:
    """Surprise makes a folder there when it is imported, and fails."""
    pytest.importorskip("surprise")
    code = "import recsys_ndcg.surprise; print('imported')"
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": "/proc/nowhere", "PATH": "/usr/bin"},
    )
    assert done.stdout == "imported\n", done.stderr
