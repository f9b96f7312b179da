"""The names that callers rely on."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg.background import BackgroundOptions
from recsys_ndcg.metrics import parse_metrics
from recsys_ndcg.significance import SignificanceOptions, Testing
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
#: All public members of the classes that users meet, without what every text has.
MEMBERS = {
    rn.Report: (
        "audit baselines by by_items counts explain findings gaps get intervals items keys "
        "label_weights leaderboard load mean metrics per_user per_user_audit plot pooled "
        "rarefaction remarks save sensitivity signature signatures summary take to_dict "
        "to_html to_latex to_markdown to_metrics users values"
    ),
    rn.Comparison: (
        "findings intervals leaderboard leaderboards load metrics models movers not_worse "
        "optimism overlap pairwise per_user plot remarks save segments signature signatures "
        "to_dict to_frame to_html to_latex to_markdown to_metrics users verdict"
    ),
    rn.results.ExperimentComparison: "cold_start runs split_checks trends",
    rn.RankedLists: (
        "as_sampled estimated from_arrays from_file from_frame from_labels from_surprise "
        "from_trec from_tuples items n_items offsets protocol true unlisted users"
    ),
    rn.Signature: "convention differences fields metric short text",
}
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
    """At most fifty; metrics for other libraries, and the types of results, have their own door."""
    classes = {METRICS[name].__name__ for name in AT_TOP}
    assert set(rn.__all__) == NAMES | classes | {"__version__"}
    assert len(rn.__all__) <= 50
    assert set(rn.integrations.__all__) == SCORERS
    every = {kind.__name__ for kind in rn.metrics.METRICS.values()}
    assert {*dir(rn.metrics)} - {"Metric"} <= every <= {*vars(rn.metrics)}
    doors = (rn, rn.integrations, rn.metrics, rn.results)
    assert all(hasattr(door, name) for door in doors for name in door.__all__)
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
        "rooms = {'datasets', 'errors', 'folds', 'integrations', 'metrics', 'results'}\n"
        "assert set(dir(rn)) == rooms | set(rn.__all__) and 'run_folds' not in dir(rn.folds)\n"
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


@pytest.mark.parametrize("kind", MEMBERS, ids=lambda kind: kind.__name__)
def test_a_class_shows_only_what_people_call(kind: type) -> None:
    """The rest is private, or a function of its room; objects have no other names."""
    names = {*MEMBERS[kind].split()}
    names |= {*MEMBERS[rn.Comparison].split()} if issubclass(kind, rn.Comparison) else set()
    hidden = {*dir(str)} if issubclass(kind, str) else set()
    own = [one.name for one in fields(kind)] if is_dataclass(kind) else []
    shown = {name for name in (*dir(kind), *own) if not name.startswith("_")}
    assert shown - hidden == names


def test_results_have_types_for_annotations() -> None:
    """Also the results of methods."""
    data = {user: [(user % 3, 5), (1.5, 2), (1.2, 4)] for user in range(12)}
    report, two = rn.evaluate(data), rn.compare({"a": data, "b": dict(data)})
    few = dict([*data.items()][:9])
    other = rn.compare({"a": few, "b": dict(few)})
    assert isinstance(report.by("list_length"), rn.results.Segments)
    assert isinstance(two.movers(1), rn.results.Movers)
    assert isinstance(two.not_worse("b", margin=0.1), rn.results.Gate)
    assert isinstance(rn.across({"x": two, "y": other}), rn.results.MetaAnalysis)
    assert all(isinstance(getattr(rn.results, name), type) for name in rn.results.__all__)


WRONG_CALLS: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (rn.evaluate, {"gain": "linear"}, r"convention=rn\.Convention\(gain='linear'\)"),
    (rn.evaluate, {"treshold": 4}, "Did you mean 'threshold'"),
    (rn.compare, {"corection": "holm"}, "Did you mean 'correction'"),
    (rn.reconcile, {"features_": 1}, "Did you mean 'features'"),
    (rn.experiment, {"ties": "best"}, r"convention=rn\.Convention\(ties='best'\)"),
    (rn.across, {"alpa": 0.1}, "Did you mean 'alpha'"),
    (rn.Accumulator, {"trian": []}, "Did you mean 'train'"),
    (partial(rn.compare, [1]), {}, r"compare\(\{'A': a, 'B': b\}\)"),
    (rn.compare, {"models": [1]}, r"compare\(\{'A': a, 'B': b\}\)"),
    (partial(rn.compare, {"A": 1, "B": 2}), {}, r"compare takes 1 argument .* labels=, "),
    (partial(rn.evaluate, [1]), {"first": 3}, r"evaluate has no option first="),
    (rn.evaluate, {"gain": len}, r"rn\.Convention\(gain=\.\.\.\)"),
    (partial(rn.ndcg_at_k, k=3), {"tresh": 3}, "Did you mean 'threshold'"),
    (partial(rn.ndcg_at_k, [1]), {"k": 3}, r"list\(zip\(y_score, y_true\)\), 3"),
    (partial(rn.ndcg_at_k, [1]), {"k": 3, "gain": "linear"}, r"list\(zip\(y_score, y_true\)\), 3"),
    (rn.ndcg_at_k, {}, "missing a required argument: 'k'"),
]


@pytest.mark.parametrize(("function", "options", "advice"), WRONG_CALLS)
def test_a_wrong_call_gets_the_right_one(
    function: Callable[..., Any], options: dict[str, Any], advice: str
) -> None:
    """With the option that was meant, or the place where it belongs."""
    with pytest.raises(rn.InvalidInputError, match=advice):
        function([1, 0], **options)


@pytest.mark.parametrize("function", [rn.evaluate, rn.compare, rn.reconcile, rn.Accumulator])
def test_shared_options_are_shown_by_every_function_that_has_them(function: Any) -> None:
    """In its signature, for help and editors, and in its text."""
    names = [*BackgroundOptions.__annotations__]
    names += [*SignificanceOptions.__annotations__] * (function is rn.compare)
    shown = inspect.signature(function).parameters
    assert [*shown][-len(names) :] == [*names[6:], *names[:6]]
    assert all(re.search(rf"\b{name}\b.* :", str(function.__doc__)) for name in names)
    for name, default in vars(Testing()).items() if function is rn.compare else ():
        assert name in {"correction", "draws"} or shown[name].default == default


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
    with pytest.raises(rn.InvalidInputError, match=r"Only the predictions.*ndcg_at_k") as caught:
        rn.evaluate(y_true, y_score)  # type: ignore[call-arg]
    with pytest.raises(rn.InvalidInputError, match="second argument is the cutoff"):
        rn.ndcg_at_k(y_true, y_score, 10)  # type: ignore[arg-type, call-arg]
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
