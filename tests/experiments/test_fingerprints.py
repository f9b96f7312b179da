"""A fingerprint differs whenever anything that can move a number does, and else never."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
import pickle
import subprocess
import sys
import threading
import types
import warnings
from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from surprise import AlgoBase, Dataset, Reader

import recsys_ndcg as rn
from recsys_ndcg.experiments.fingerprints import FingerprintError, fingerprint, readable
from recsys_ndcg.surprise import SVD, MostPopular, make_measure
from tests.experiments.made import item_means, models, ratings, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Algo(AlgoBase):  # type: ignore[misc] # surprise has no types
    """An algorithm with one parameter."""

    def __init__(self, parameter: Any) -> None:
        AlgoBase.__init__(self)
        self.parameter = parameter


@dataclasses.dataclass
class Settings:
    """A dataclass."""

    value: Any
    others: set[str] = dataclasses.field(default_factory=lambda: {"x", "y", "zz"})


class Slots:
    """A class without a dict."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Named(dict[str, int]):
    """A dict with an attribute."""

    def __init__(self, value: Any, **items: int) -> None:
        super().__init__(**items)
        self.value = value


class Called:
    """An object that can be called."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, train: Any) -> Any:
        """Return what it holds."""
        return self.value, train

    def method(self, train: Any) -> Any:
        """Return what it holds."""
        return self.value, train


def _function(first: Any, train: Any = None) -> Any:
    return first, train


def _with_attribute(value: Any) -> Any:
    algo = SVD()
    algo.of_no_constructor = value
    return algo


def _with_closure(value: Any) -> Any:
    return lambda train: (value, train)


def _with_default(value: Any) -> Any:
    return lambda train, option=value, *, other=value: (option, other, train)


def _with_global(value: Any) -> Any:
    return _compiled(
        "def f(train): return lambda pairs: [n * G for n in range(len(pairs))]", G=value
    )


def _with_helper(value: Any) -> Any:
    helper = _compiled("def f(): return G", G=value)
    return _compiled("def f(train): return [helper() for _ in train]", helper=helper)


def _with_recursion(value: Any) -> Any:
    return _compiled("def f(n): return f(n - 1) if n else G", G=value)


def _with_cache(value: Any) -> Any:
    return _compiled("def f(n): return helper(n)", helper=functools.cache(_with_global(value)))


def _with_base(value: Any) -> Any:
    base = type("Base", (), {"parameter": value, "fit": lambda self: self.parameter})
    return type("Own", (base,), {})()


def _with_class(value: Any) -> Any:
    class Own:
        parameter = value

        def fit(self) -> Any:
            return super(), Own

    return Own()


def _compiled(source: str, **names: Any) -> Any:
    exec(source, names)  # noqa: S102 - globals of its own
    return names["f"]


PLACES: dict[str, Callable[[Any], Any]] = {
    "a parameter": Algo,
    "an attribute of no constructor": _with_attribute,
    "a dataclass": lambda value: Algo(Settings(value)),
    "slots": lambda value: Algo(Slots(value)),
    "a namespace": lambda value: functools.partial(_function, types.SimpleNamespace(a=[value])),
    "an enclosed object": lambda value: _with_closure(Called({"a": (1, value)})),
    "an argument": lambda value: functools.partial(_function, value),
    "a keyword": lambda value: functools.partial(_function, 1, train=value),
    "a function within": lambda value: functools.partial(_function, functools.partial(max, value)),
    "an algorithm in a wrapper": lambda value: Called(Algo(value)),
    "an algorithm in partial": lambda value: functools.partial(_function, Algo(value)),
    "an object that is called": Called,
    "a method": lambda value: Called(value).method,
    "a closure": _with_closure,
    "a default": _with_default,
    "a global": _with_global,
    "a global of a helper": _with_helper,
    "a global of a recursive function": _with_recursion,
    "a function with a cache": _with_cache,
    "a base class": _with_base,
    "a class of its own": _with_class,
    "an object column": lambda value: pd.DataFrame({"a": pd.Series([value, 0], dtype=object)}),
    "a defaultdict": lambda value: defaultdict(list, {"a": value, 1: 2}),
    "a default of a dict": lambda value: defaultdict(_with_global(value)),
    "a dict with attributes": lambda value: Named(value, a=1),
    "an ordered dict": lambda value: OrderedDict(a=value),
    "a set": lambda value: {_written(value), 1, None},
}
VALUES = st.recursive(
    st.one_of(
        st.integers(),
        st.floats(allow_nan=False),
        st.text(max_size=5),
        st.binary(max_size=5),
        st.booleans(),
        st.none(),
        st.frozensets(st.one_of(st.integers(), st.text(max_size=2), st.tuples(st.text()))),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers()), inner, max_size=3),
    ),
    max_leaves=5,
)


def digest(value: Any) -> str:
    """Return the fingerprint alone."""
    return fingerprint(value)[0]


@given(place=st.sampled_from([*PLACES]), one=VALUES, other=VALUES)
def test_any_value_in_any_place_counts(place: str, one: Any, other: Any) -> None:
    """An equal copy has the same fingerprint, another value another."""
    made = PLACES[place]
    copy = pickle.loads(pickle.dumps(one))  # noqa: S301 - made here
    assert digest(made(one)) == digest(made(copy))
    assume(_written(one) != _written(other))
    assert digest(made(one)) != digest(made(other))


def _written(value: Any) -> str:
    """Return a value as text, in which the order of sets does not count."""
    if isinstance(value, dict):
        return f"dict{[(repr(key), _written(one)) for key, one in value.items()]}"
    if isinstance(value, frozenset):
        return f"set{sorted(map(repr, value))}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}{[*map(_written, value)]}"
    return repr(value)


COLUMNS: dict[str, Callable[[list[float]], Any]] = {
    "numpy": np.array,
    "every other": lambda values: np.repeat(values, 2)[::2],
    "objects": lambda values: np.array([*values, "x"], dtype=object),
    "pandas": lambda values: pd.DataFrame({"a": values, "b": "x"}),
    "index": lambda values: pd.Series(1, index=values),
    "text": lambda values: pd.Series([*map(str, values)]),
    "categories": lambda values: pd.Series([*map(str, values)], dtype="category"),
    "nullable": lambda values: pd.Series([*values, None], dtype="Float64"),
    "sparse column": lambda values: pd.Series(pd.arrays.SparseArray([*values, 0.0])),
    "sparse matrix": lambda values: sp.csr_matrix([[*values, 0.0]]),
    "polars": lambda values: pl.DataFrame({"a": values, "b": "x"}),
    "lazy": lambda values: pl.LazyFrame({"a": values}),
    "arrow": lambda values: pa.table({"a": values}),
    "generator": lambda values: np.random.default_rng([int(abs(one)) for one in values]),
}


@pytest.mark.parametrize("kind", COLUMNS)
@given(values=st.lists(st.integers(-99, 99).map(float), min_size=1, max_size=4), data=st.data())
def test_tables_of_any_library_count_by_content(
    kind: str, values: list[float], data: st.DataObject
) -> None:
    """Whatever holds them: a change of one number is another fingerprint."""
    place = data.draw(st.integers(0, len(values) - 1))
    other = [*values]
    other[place] = 100.0
    held = [functools.partial(_function, COLUMNS[kind](one)) for one in (values, [*values], other)]
    same, copy, changed = map(digest, held)
    assert same == copy
    assert same != changed


HELPERS = """
import functools
import inner
from inner import Base, imported
ALPHA = 1
def helper(x): return x * ALPHA
@functools.lru_cache
def cached(x): return x + 1
def late(train):
    from inner import later
    return later(train)
def by_module(train): return inner.attribute(train)
def by_name(train): return imported(train)
def nested(train): return [lambda: helper(train) for _ in train]
def calls_cached(train): return cached(train)
class Model(Base):
    def fit(self, train): return super().fit(train)
    def test(self, testset): return helper(testset)
"""
INNER = """
BETA = 1
def imported(x): return x + BETA
def attribute(x): return x + 2
def later(x): return x + 3
class Base:
    def fit(self, train): return 4
"""
CHANGES = {
    "helper": ("helpers", "x * ALPHA", "x / ALPHA", {"nested", "Model"}),
    "global": ("helpers", "ALPHA = 1", "ALPHA = 2", {"nested", "Model"}),
    "cached": ("helpers", "x + 1", "x - 1", {"calls_cached"}),
    "imported": ("inner", "x + BETA", "x - BETA", {"by_name"}),
    "its global": ("inner", "BETA = 1", "BETA = 2", {"by_name"}),
    "of a module": ("inner", "x + 2", "x - 2", {"by_module"}),
    "imported late": ("inner", "x + 3", "x - 3", {"late"}),
    "base class": ("inner", "return 4", "return 5", {"Model"}),
    "annotation": ("helpers", "nested(train)", "nested(train: 'int') -> list", set()),
    "docstring of a class": ("inner", "class Base:", 'class Base:\n    "Doc."', set()),
    "comment": ("helpers", "ALPHA = 1", "# first\nALPHA = 1", set()),
    "another function": ("helpers", "class Model", "def f(): ...\nclass Model", set()),
}
DEFINED = ("late", "by_module", "by_name", "nested", "calls_cached", "Model")


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_the_modules_of_a_model_is_noticed(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it is, if the model refers to it; in nothing else, and in no comment."""
    where, before, after, wanted = CHANGES[change]
    sources = {"helpers": HELPERS, "inner": INNER}
    one = _fingerprints(sources, tmp_path / "one", monkeypatch)
    other = _fingerprints(
        sources | {where: sources[where].replace(before, after)}, tmp_path / "other", monkeypatch
    )
    assert {name for name in DEFINED if one[name] != other[name]} == wanted


def _fingerprints(
    sources: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    folder.mkdir()
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
        monkeypatch.delitem(sys.modules, name, raising=False)
    with monkeypatch.context() as patched:
        patched.syspath_prepend(str(folder))
        importlib.invalidate_caches()
        module = importlib.import_module("helpers")
        return {name: digest(getattr(module, name)) for name in DEFINED}


PACKAGE = {
    "pack/__init__.py": "from .exported import go\n",
    "pack/exported.py": "from spaced import deep\ndef go(x): return deep.value(x) + 1\n",
    "pack/sub.py": "def inner(x): return x + 2\n",
    "pack/same.py": "def same(x): return x + 4\n",
    "pack/model.py": (
        "def exported(train):\n    from pack import go\n    return go(train)\n"
        "def member(train):\n    from pack import sub\n    return sub.inner(train)\n"
        "def relative(train):\n    from . import sub\n    return sub.inner(train)\n"
        "def dotted(train):\n    import pack.sub\n    return pack.sub.inner(train)\n"
        "def spaced(train):\n    import spaced.deep as deep\n    return deep.value(train)\n"
        "def same_dotted(train):\n    import pack.same\n    return pack.same.same(train)\n"
        "def same_member(train):\n    from pack import same\n    return same.same(train)\n"
        "def same_named(train):\n    import pack.same as one\n    return one.same(train)\n"
        "def held(train, modules={'a': __import__('pack.exported').exported}): return train\n"
    ),
    "spaced/deep.py": "def value(x): return x + 3\n",  # in no package
}
SAME = ("same_dotted", "same_member", "same_named")
LATE = ("exported", "member", "relative", "dotted", "spaced", "held", *SAME)


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        ("pack/exported.py", {"exported", "held"}),
        ("pack/sub.py", {"member", "relative", "dotted"}),
        ("spaced/deep.py", {"exported", "spaced", "held"}),
        ("pack/same.py", {*SAME}),
    ],
)
def test_modules_of_ones_own_are_followed_wherever_they_are_imported(
    file: str, wanted: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while a function runs, relative to its package, and from folders that are no package."""
    changed = {**PACKAGE, file: PACKAGE[file].replace("x + ", "x - ").replace("(x) + ", "(x) - ")}
    seen = []
    for number, sources in enumerate((PACKAGE, changed)):
        for name, source in sources.items():
            path = tmp_path / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        for name in [one for one in sys.modules if one.partition(".")[0] in ("pack", "spaced")]:
            monkeypatch.delitem(sys.modules, name)
        with monkeypatch.context() as patched:
            patched.syspath_prepend(str(tmp_path / str(number)))
            importlib.invalidate_caches()
            module = importlib.import_module("pack.model")
            seen.append({name: digest(getattr(module, name)) for name in LATE})
    assert {name for name in LATE if seen[0][name] != seen[1][name]} == wanted


class Odd:
    """An object that fails however it is looked at."""

    def __getattr__(self, name: str) -> Any:
        """Raise what nobody expects."""
        raise KeyError(name)

    def __reduce__(self) -> Any:
        """End the process."""
        raise SystemExit

    def __repr__(self) -> str:
        """Fail."""
        raise RuntimeError


def _deep() -> Any:
    found: list[Any] = []
    for _ in range(2000):
        found = [found]
    return found


def _cyclic() -> Any:
    root: dict[str, Any] = {"children": []}
    root["children"].append({"parent": root})
    return root


ODD: dict[str, Any] = {
    "an odd object": Odd(),
    "odd keys": {Odd(): 1},
    "a cycle": _cyclic(),
    "a dtype": np.dtype("float32"),
    "many digits": 10**5000,
    "deep": _deep(),
}


@pytest.mark.parametrize("name", ODD)
def test_no_parameter_ends_an_experiment(name: str, tmp_path: Path) -> None:
    """Whatever it does when it is looked at, the model is resumed or trained again."""

    def model(train: pd.DataFrame, held: Any = ODD[name]) -> Any:
        return (held, item_means(train))[1]

    for _ in range(2):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            run({"model": model, "top": MostPopular()}, folder=tmp_path)
        assert all("model: its folds are trained again" in str(one.message) for one in said)
    assert bool(said) == (name in ("an odd object", "odd keys", "deep"))


def test_the_environment_is_not_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor are other texts that a function finds in globals; another shell resumes."""
    monkeypatch.setenv("TOKEN_OF_A_TEST", "hush")
    source = "def f(train): environ.get('A'), KEYS['a']; return lambda pairs: [*range(len(pairs))]"
    for value in ("one", "two"):
        monkeypatch.setenv("OTHER_OF_A_TEST", value)
        model = _compiled(source, environ=os.environ, KEYS={"a": "hush"})
        run({"f": model, "top": MostPopular()}, folder=tmp_path)
    told = (tmp_path / "cells" / "f" / "model.json").read_text()
    assert "environ" in told
    assert "hush" not in told


def test_keys_that_are_numbers_of_numpy_are_counted_soon() -> None:
    """A hundred thousand of them, as of `dict.fromkeys(table["user"].unique())`."""
    keys = np.arange(100_000)
    assert digest(dict.fromkeys(keys)) == digest(dict.fromkeys(keys.copy()))
    assert digest(dict.fromkeys(keys)) != digest(dict.fromkeys(keys[::-1]))


def test_memory_order_and_lazy_parts_do_not_count() -> None:
    """Nor do caches, locks of the standard library, and which submodules are imported by now."""
    table = np.arange(6.0).reshape(2, 3)
    assert digest(table[:, 1]) == digest(table[:, 1].copy())
    assert digest(table.T) != digest(table)
    made = _with_cached_property
    assert digest(made(1)) == digest(made(1)) != digest(made(2))


def _with_cached_property(value: Any) -> Any:
    read = functools.cached_property(lambda _: value)
    read.__set_name__(Called, "read")
    return type("Own", (), {"read": read, "fit": None})()


def test_a_method_counts_by_its_function() -> None:
    """Not by its name."""

    def bound(value: Any) -> Any:
        algo = Algo(1)
        algo.estimate = types.MethodType(lambda self, *_: (self, value), algo)
        return algo

    assert digest(bound(1)) == digest(bound(1)) != digest(bound(2))


PRINTS = """
import random, sys, typing
sys.path.insert(0, sys.argv[1])
from functools import partial
from random import shuffle
from numpy.random import normal
import helpers
from recsys_ndcg.experiments.fingerprints import fingerprint
from recsys_ndcg.surprise import SVD
class Own(helpers.Base):
    names = {"a", "b", "c", ("d", 1), None}
    def test(self, x): return x in {"one", "two", "three"}
T = typing.TypeVar("T")
class Typed(helpers.Base, typing.Generic[T]):
    def test(self, x: T) -> T: return typing.cast(T, x)
def draws(train): shuffle(train); normal(); return train
def closure(*given): return lambda train: (given, helpers.helper(train))
held = {"a": {"x", "y", "z"}, ("b", 2): frozenset("pqr"), 3: "cosine", None: ["cosine"]}
late = partial(helpers.nested, held), helpers.late
for one in (SVD(), Own(), Typed(), draws, closure(held), *late):
    print(fingerprint(one))
"""


def test_it_is_the_same_in_another_process(tmp_path: Path) -> None:
    """With another seed of hashes, from another folder, before and after modules are compiled."""
    for name, source in (("helpers", HELPERS), ("inner", INNER), ("main", PRINTS)):
        (tmp_path / f"{name}.py").write_text(source)
    seen = {
        subprocess.run(  # noqa: S603 - our own
            [sys.executable, tmp_path / "main.py", str(tmp_path)],
            cwd=folder,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed, folder in (("1", tmp_path), ("2", "/"))
    }
    assert len(seen) == 1
    assert seen.pop().count(b"\n") == 7


def test_what_cannot_be_compared_is_refused() -> None:
    """The type is named, wherever it stands."""
    with pytest.raises(FingerprintError, match=r"an object of _thread\.lock"):
        fingerprint({"a": [Called(threading.Lock())]})
    assert readable(threading.Lock()) == "_thread.lock"


def test_versions_of_libraries_are_known() -> None:
    """Of those that a model is of or refers to."""
    assert set(fingerprint(SVD())[1]) == {"surprise"}
    assert {"numpy", "python"} <= set(fingerprint(lambda: np.ones(1))[1])


def _locked(offset: float = 1.0) -> Any:
    lock = threading.Lock()
    return lambda train: (lock, lambda pairs: item_means(train)(pairs) + offset)[1]


def test_what_cannot_be_compared_is_trained_again(tmp_path: Path) -> None:
    """And says so, once per run; the others resume."""
    given = {"locked": _locked(), **models()}
    again: list[Any] = []
    for wanted in (8, 2):
        again.clear()
        with pytest.warns(rn.DataWarning, match="locked: its folds are trained again") as caught:
            run(given, folder=tmp_path, on_result=again.append)
        assert len(caught) == 1
        assert len(again) == wanted
    assert {one.model for one in again} == {"locked"}
    assert rn.load_runs(tmp_path).table["done"].tolist() == [2] * 4


@pytest.mark.parametrize("by_name", [True, False])
def test_a_text_of_the_users_own_stands_for_it(tmp_path: Path, *, by_name: bool) -> None:
    """As long as it is the same."""

    def attempt(text: str, **options: Any) -> None:
        said: Any = {"locked": text} if by_name else text
        run(
            {"locked": _locked(), "top": MostPopular()},
            folder=tmp_path,
            fingerprint=said,
            **options,
        )

    attempt("first")
    attempt("first", on_result=pytest.fail)
    with pytest.raises(rn.InvalidInputError, match=r"locked: fingerprint \('given: first', now"):
        attempt("second")


def test_results_that_had_a_text_are_not_deleted_without_it(tmp_path: Path) -> None:
    """A forgotten option is refused; one that is given for the first time begins anew."""
    given = {"locked": _locked(), "top": MostPopular()}
    run(given, folder=tmp_path, fingerprint="v1")
    with pytest.raises(rn.InvalidInputError, match=r"fingerprint \('given: v1', now None\)"):
        run(given, folder=tmp_path)
    other = tmp_path / "other"
    with pytest.warns(rn.DataWarning, match="locked: its folds are trained again"):
        run(given, folder=other)
    again: list[Any] = []
    run(given, folder=other, fingerprint="v1", on_result=again.append)
    assert [one.model for one in again] == ["locked"] * 2


def test_results_of_another_process_are_not_taken_for_a_model_without_fingerprint(
    tmp_path: Path,
) -> None:
    """Both have none, which makes them not the same."""
    begun: list[Any] = []

    def begin_another(*_: Any) -> None:
        if not begun:
            begun.append(True)
            with pytest.warns(rn.DataWarning, match="locked: its folds"):
                run({"locked": _locked(-5.0), "top": MostPopular()}, folder=tmp_path)

    again: list[Any] = []
    with pytest.warns(rn.DataWarning, match="locked: its folds"):
        run(
            {"locked": _locked(), "top": MostPopular()},
            folder=tmp_path,
            progress=begin_another,
            on_result=again.append,
        )
    assert [one.model for one in again] == ["locked"] * 2


def test_what_a_function_imports_is_known(tmp_path: Path) -> None:
    """Libraries by their versions, nothing else; nothing of them is imported for that."""

    def late(train: Any) -> Any:
        import sklearn.svm  # noqa: PLC0415

        return sklearn.svm, train

    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom recsys_ndcg.experiments.fingerprints import fingerprint\n"
        "def f(train):\n    import matplotlib.pyplot, sqlite3.dbapi2\n"
        "print(fingerprint(f)[1].keys(), 'sqlite3' in sys.modules)\n"
    )
    said = subprocess.run(  # noqa: S603 - our own
        [sys.executable, script],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert said.endswith("False\n")
    pytest.importorskip("sklearn")
    assert {"python", "sklearn"} == set(fingerprint(late)[1]) - {"pytest"}


def test_a_text_alone_stands_for_nothing_that_can_be_compared(tmp_path: Path) -> None:
    """A changed parameter is noticed all the same; under the name of the model it is accepted."""
    run({"f": SVD(n_epochs=1), "top": MostPopular()}, folder=tmp_path, fingerprint="v1")
    with pytest.raises(rn.InvalidInputError, match=r"f: parameters\.n_epochs \(1, now 2\)"):
        run({"f": SVD(n_epochs=2), "top": MostPopular()}, folder=tmp_path, fingerprint="v1")
    other = tmp_path / "other"
    run({"f": SVD(n_epochs=1), "top": MostPopular()}, folder=other, fingerprint={"f": "v1"})
    changed = {"f": SVD(n_epochs=2), "top": MostPopular()}
    run(changed, folder=other, fingerprint={"f": "v1"}, on_result=pytest.fail)


@pytest.mark.parametrize("wrong", [7, 0, "", {}, {"f": 7}, {"f": ""}, {"g": "v1"}, {None: "v1"}])
def test_fingerprints_of_no_model_are_refused(wrong: Any) -> None:
    """Before anything is trained."""
    with pytest.raises(rn.InvalidInputError, match="fingerprint"):
        run({"f": pytest.fail, "top": MostPopular()}, fingerprint=wrong)


def _squared(true: Any) -> Any:
    return 1 / (true * true)


def _scaled(scale: tuple[float, float]) -> Any:
    return Dataset.load_from_df(ratings()[["user", "item", "rating"]], Reader(rating_scale=scale))


def _halved(rank: Any) -> Any:
    return 0.5**rank


OPTIONS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "scale": ({"rating_scale": (0, 5)}, {"rating_scale": (0, 6)}, r"rating_scale .*5.* now .*6"),
    "reader": ({"data": _scaled((0, 5))}, {"data": _scaled((0, 9))}, r"rating_scale .* now .*9"),
    "gain": (
        {"convention": rn.Convention(gain=lambda true: true)},
        {"convention": rn.Convention(gain=lambda true: true * true)},
        r"measures\.ndcg@5\.code of gain",
    ),
    "discount": (
        {"convention": rn.Convention(discount=lambda rank: 1 / rank)},
        {"convention": rn.Convention(discount=lambda rank: 1 / rank**2)},
        r"measures\.ndcg@5\.code of discount",
    ),
    "threshold": (
        {"metrics": ["precision@5"], "threshold": 4.0},
        {"metrics": ["precision@5"], "threshold": 3.9999999},
        r"measures\.precision@5\.threshold \('4\.0', now '3\.9999999'\)",
    ),
    "function": (
        {"metrics": ["ndcg@5", make_measure(lambda rows: +len(rows), "size")]},
        {"metrics": ["ndcg@5", make_measure(lambda rows: -len(rows), "size")]},
        r"measures\.size",
    ),
    "keyword": (
        {"metrics": ["ndcg@5", make_measure(lambda rows, k: len(rows) + k, "size", k=1)]},
        {"metrics": ["ndcg@5", make_measure(lambda rows, k: len(rows) + k, "size", k=2)]},
        r"measures\.size",
    ),
    "a global": (
        {"given": {"f": _with_global(1), "top": MostPopular()}},
        {"given": {"f": _with_global(2), "top": MostPopular()}},
        r"f: globals\.G \(1, now 2\)",
    ),
    "own seed": (
        {"given": {"f": SVD(n_epochs=1, random_state=5), "top": MostPopular()}},
        {"given": {"f": SVD(n_epochs=1, random_state=5), "top": MostPopular()}, "seeds": 2},
        r"f: parameters\.random_state \(5, now None\)",
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_move_numbers_are_compared(name: str, tmp_path: Path) -> None:
    """The same resumes, another is refused, and what differs is named."""
    same, other, fault = OPTIONS[name]
    options = {"given": {"top": MostPopular(), "f": SVD(n_epochs=1)}, "folder": tmp_path}
    run(**{**options, **same})
    run(**{**options, **same}, on_result=pytest.fail)
    with pytest.raises(rn.InvalidInputError, match=fault):
        run(**{**options, **other})


def test_a_metric_of_the_users_own_counts_by_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by its name alone."""
    given = {"top": MostPopular(), "f": SVD(n_epochs=1)}
    halved = rn.metric(name="halved")(_halved)
    options: dict[str, Any] = {"given": given, "metrics": [halved(5)], "threshold": 4}
    run(**options, folder=tmp_path)
    run(**options, folder=tmp_path, on_result=pytest.fail)
    monkeypatch.setattr(halved, "function", staticmethod(_squared))
    with pytest.raises(rn.InvalidInputError, match=r"halved@5\.code of metric"):
        run(**options, folder=tmp_path)
