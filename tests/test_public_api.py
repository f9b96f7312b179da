"""The names that callers rely on."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import re

import pytest

import recsys_ndcg as rn
from recsys_ndcg.metrics import parse_metrics
from tests.accuracy import METRICS
from tests.commands import run_python

NAMES = {
    *("Accumulator", "Comparison", "Convention", "DataWarning", "InvalidInputError", "Metric"),
    *("MissingExtraError", "RankedLists", "RecsysNdcgError", "Report", "Signature", "TextFormat"),
    *("UnknownMetricError", "across", "average_precision_at_k", "check_split", "compare"),
    *("dcg_at_k", "evaluate", "experiment", "explain_number", "jaccard_at_k", "load_runs"),
    *("metric", "ndcg_at_k", "power", "precision_at_k", "propensity", "rbo", "recall_at_k"),
    *("reciprocal_rank", "reconcile", "what_sampling_would_say"),
}
#: Metrics in the form of other libraries.
SCORERS = {
    *("OptunaPruner", "catboost_curve", "keras_callback", "lightgbm_metric", "mlflow_metric"),
    *("scorer", "torchmetric", "xgboost_metric"),
}
#: Metrics whose classes stand at the top; all are in `recsys_ndcg.metrics`.
AT_TOP = [
    *("judged", "cg", "dcg", "ndcg", "precision", "recall", "f1", "hit", "ap", "rr"),
    *("rprecision", "rbp", "auc", "rmse", "mse", "mae"),
]
METRIC_NAMES = [*AT_TOP]
REPORT = [
    *("per_user", "mean", "pooled", "summary", "audit", "baselines", "counts", "signature"),
    *("leaderboard", "explain", "to_markdown", "to_latex", "to_html", "to_dict", "save", "load"),
]
LISTS = [
    *("from_tuples", "from_surprise", "from_frame", "from_labels", "from_trec", "from_file"),
    "from_arrays",
]
FIELDS = {
    "gain": "exponential", "discount": "log2", "ideal": "global", "unlabelled": "zero",
    "ties": "expected", "tie_tolerance": 0.0, "short_list": "k", "recall_over": "relevant",
    "ap_over": "relevant", "undefined": "skip", "missing_user": "zero", "unlisted": "count",
    "impossible": "rank", "mean_over": "all", "duplicates": "raise", "recommend_from": None,
    "max_grade": None,
}  # fmt: skip
PLUG_IN = {
    *("LeaveLastOut", "LeaveNOut", "MostPopular", "RollingTime", "TimeSplit", "UserKFold"),
    *("evaluate_catalogue", "make_measure", "predict_all", "rank_catalogue"),
}


def test_the_public_names_are_exactly_these() -> None:
    """At most 34 names, classes of metrics of relevance and of errors, and for other libraries."""
    classes = {METRICS[name].__name__ for name in AT_TOP}
    assert set(rn.__all__) == NAMES | SCORERS | classes | {"__version__"}
    assert len(NAMES) <= 34
    for name in rn.__all__:
        assert hasattr(rn, name)
    with pytest.raises(AttributeError, match="NDGC"):
        getattr(rn, "NDGC")  # noqa: B009 - mypy knows that it does not exist


def test_importing_is_lazy_and_prints_nothing() -> None:
    """Neither NumPy nor optional libraries are loaded before they are needed."""
    code = (
        "import sys, recsys_ndcg as rn\n"
        "optional = {'scipy', 'narwhals', 'surprise', 'rich', 'cyclopts', 'polars', 'jinja2'}\n"
        "optional |= {'sklearn', 'lightgbm', 'xgboost', 'catboost', 'optuna', 'torch', 'keras'}\n"
        "assert issubclass(rn.DataWarning, Warning) and rn.errors.DataWarning is rn.DataWarning\n"
        "assert not ({'numpy', 'pandas'} | optional) & set(sys.modules)\n"
        "from recsys_ndcg import NDCG, Convention\n"
        "from recsys_ndcg import *\n"
        "assert not optional & set(sys.modules)\n"
        "assert dir(rn) == rn.__all__\n"
        "assert rn.metrics.METRICS['ndcg'] is NDCG and compare is rn.compare\n"
    )
    done = run_python("-W", "error", "-c", code)
    assert (done.stdout, done.stderr) == ("", "")


def test_help_fits_three_screens() -> None:
    """Python would print every class in full: seven thousand lines."""
    text = pydoc.plain(pydoc.render_doc(rn))
    assert len(text.splitlines()) <= 3 * 40
    described = re.findall(r"rn\.([A-Za-z_]\w*)", text)
    assert [name for name in described if not hasattr(rn, name)] == []
    assert "rn.evaluate(predictions" in text


@pytest.mark.parametrize("name", METRIC_NAMES)
def test_every_metric_of_the_contract_exists_by_name_and_class(name: str) -> None:
    """`rn.NDCG(10)` and "ndcg@10" are the same; every name reads back."""
    assert set(METRICS) == set(METRIC_NAMES)
    kind = METRICS[name]
    assert getattr(rn.metrics, kind.__name__) is kind
    assert str(kind()) == name
    for metric in [kind()] + ([kind(k=7)] if kind.cutoff != "none" else []):
        assert parse_metrics(str(metric)) == parse_metrics(str(metric).upper()) == [metric]


def test_reports_and_lists_have_the_attributes_of_the_contract() -> None:
    """And methods."""
    report = rn.evaluate({"ann": [(2.0, 1), (1.0, 2)]})
    assert [name for name in REPORT if not hasattr(report, name)] == []
    assert [name for name in LISTS if not hasattr(rn.RankedLists, name)] == []


def test_a_convention_has_the_fields_and_defaults_of_the_contract() -> None:
    """The signature has their order."""
    convention = rn.Convention()
    assert {name: getattr(convention, name) for name in FIELDS} == FIELDS
    assert [part.split(":")[0] for part in convention.signature.split("|")] == list(FIELDS)


def test_everything_after_the_data_is_keyword_only() -> None:
    """A second positional argument would be a guess."""
    parameters = list(inspect.signature(rn.evaluate).parameters.values())
    assert all(one.kind is one.KEYWORD_ONLY for one in parameters[1:])
    for name in LISTS:
        for one in inspect.signature(getattr(rn.RankedLists, name)).parameters.values():
            assert one.name not in {"columns", "duplicates"} or one.kind is one.KEYWORD_ONLY


def test_arrays_as_of_scikit_learn_get_a_sentence() -> None:
    """What its users type first, with the call that works."""
    y_true, y_score = [1, 0, 1], [0.3, 0.2, 0.1]
    with pytest.raises(
        rn.InvalidInputError, match=r"one table of predictions.*ndcg_at_k"
    ) as caught:
        rn.evaluate(y_true, y_score)  # type: ignore[arg-type]
    with pytest.raises(rn.InvalidInputError, match="second argument is the cutoff"):
        rn.ndcg_at_k(y_true, y_score, 10)  # type: ignore[arg-type]
    with pytest.raises(rn.InvalidInputError, match="second argument is the cutoff"):
        rn.precision_at_k(y_true, y_score, 10)  # type: ignore[arg-type]
    call = re.search(r"ndcg_at_k\(.*?\), 10\)", str(caught.value))
    assert call is not None
    names = {"ndcg_at_k": rn.ndcg_at_k, "y_true": y_true, "y_score": y_score}
    assert eval(call[0], names) == pytest.approx(0.9197, abs=1e-4)  # noqa: S307 - our own message


def test_errors_are_named_as_users_catch_them() -> None:
    """In tracebacks, and after a pickle."""
    for kind in (rn.InvalidInputError, rn.UnknownMetricError, rn.MissingExtraError):
        assert f"{kind.__module__}.{kind.__qualname__}" == f"recsys_ndcg.{kind.__name__}"
        again = pickle.loads(pickle.dumps(kind("the reason")))  # noqa: S301 - our own
        assert (type(again), str(again)) == (kind, "the reason")


def test_the_plug_in_offers_all_names_of_surprise_and_its_own() -> None:
    """Each of its own is documented."""
    surprise = pytest.importorskip("surprise")
    from recsys_ndcg import surprise as plug_in  # noqa: PLC0415 - an extra

    theirs = {*surprise.__all__, *surprise.model_selection.__all__, "accuracy"}
    errors = {"fcp", "mae", "mse", "rmse"}
    assert set(plug_in.__all__) == PLUG_IN | theirs | errors
    assert all(inspect.getdoc(getattr(plug_in, name)) for name in PLUG_IN)
    own = ["ap", "f1", "fcp", "hit", "mae", "mse", "ndcg", "precision", "recall", "rmse", "rr"]
    assert plug_in.accuracy.__all__ == own


@pytest.mark.slow
def test_the_plug_in_imports_no_scipy_and_needs_no_home() -> None:
    """Each worker has memory of its own; Surprise alone fails if it can't make a folder in HOME."""
    pytest.importorskip("surprise")
    code = "import sys, recsys_ndcg.surprise; assert 'scipy' not in sys.modules"
    assert run_python("-c", code, HOME="/proc/nowhere").stderr == ""
