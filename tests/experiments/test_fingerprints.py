"""A fingerprint changes if and only if something that can change a number does."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
import pickle
import sys
import threading
import types
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

pytest.importorskip("surprise")

from surprise import AlgoBase

import recsys_ndcg as rn
from recsys_ndcg.experiments.fingerprints import FingerprintError, describe_value, fingerprint
from recsys_ndcg.experiments.models import Model
from recsys_ndcg.surprise import SVD, MostPopular
from tests.commands import run_python
from tests.errors import assert_rejected
from tests.experiments.made import QUICK, item_means, run, with_top
from tests.profiles import slow


class Algo(AlgoBase):  # type: ignore[misc] # surprise has no types
    """An algorithm with one parameter."""

    def __init__(self, parameter: Any) -> None:
        super().__init__()
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


def _with_closure(value: Any) -> Any:
    return lambda train: (value, train)


def _with_attribute(value: Any) -> Any:
    algo = SVD()
    algo.of_no_constructor = value
    return algo


def _with_global(value: Any) -> Any:
    source = "def f(train): return lambda pairs: [n * G for n in range(len(pairs))]"
    return _compiled(source, G=value)


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
    "a parameter": Algo, "an attribute of no constructor": _with_attribute,
    "a dataclass": lambda value: Algo(Settings(value)), "slots": lambda value: Algo(Slots(value)),
    "a namespace": lambda value: functools.partial(_function, types.SimpleNamespace(a=[value])),
    "an enclosed object": lambda value: _with_closure(Called({"a": (1, value)})),
    "a keyword": lambda value: functools.partial(_function, 1, train=value),
    "a function within": lambda value: functools.partial(_function, functools.partial(max, value)),
    "an object that is called": Called, "a method": lambda value: Called(value).method,
    "a bound function": lambda value: types.MethodType(lambda self, *_: (self, value), Algo(1)),
    "a closure": _with_closure,
    "a default": lambda value: lambda train, one=value, *, other=value: (one, other, train),
    "a global": _with_global,
    "a helper": lambda value: _compiled("def f(n): return h(n)", h=_with_global(value)),
    "a recursion": lambda value: _compiled("def f(n): return f(n - 1) if n else G", G=value),
    "a cache": lambda value: _compiled("def f(n): return h(n)", h=cache(_with_global(value))),
    "a base class": _with_base, "a class of its own": _with_class,
    "an object column": lambda value: pd.DataFrame({"a": pd.Series([value, 0], dtype=object)}),
    "a defaultdict": lambda value: defaultdict(list, {"a": value, 1: 2}),
    "a default of a dict": lambda value: defaultdict(_with_global(value)),
    "a dict with attributes": lambda value: Named(value, a=1),
    "an ordered dict": lambda value: OrderedDict(a=value),
    "a set": lambda value: {_text_of(value), 1, None},
}  # fmt: skip
TEXTS, NUMBERS = st.text(max_size=5), st.integers() | st.floats(allow_nan=False)
SETS = st.frozensets(st.integers() | st.text(max_size=2) | st.tuples(st.text()))
KEYS = st.text(max_size=3) | st.integers()
VALUES = st.recursive(
    NUMBERS | TEXTS | st.binary(max_size=5) | st.booleans() | st.none() | SETS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=5,
)


def digest(value: Any) -> str:
    """Return the digest of a fingerprint."""
    return fingerprint(value)[0]


@given(place=st.sampled_from([*PLACES]), one=VALUES, other=VALUES)
def test_every_value_counts_wherever_it_is(place: str, one: Any, other: Any) -> None:
    """A copy has the same fingerprint, another value another one."""
    made = PLACES[place]
    copy = pickle.loads(pickle.dumps(one))  # noqa: S301 - made here
    assert digest(made(one)) == digest(made(copy))
    assume(_text_of(one) != _text_of(other))
    assert digest(made(one)) != digest(made(other))


def _text_of(value: Any) -> str:
    """Return a value as text, in which the order of sets does not count."""
    if isinstance(value, dict):
        return f"dict{[(repr(key), _text_of(one)) for key, one in value.items()]}"
    if isinstance(value, frozenset):
        return f"set{sorted(map(repr, value))}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}{[*map(_text_of, value)]}"
    return repr(value)


COLUMNS: dict[str, Callable[[list[float]], Any]] = {
    "numpy": np.array, "every other": lambda values: np.repeat(values, 2)[::2],
    "objects": lambda values: np.array([*values, "x"], dtype=object),
    "pandas": lambda values: pd.DataFrame({"a": values, "b": "x"}),
    "index": lambda values: pd.Series(1, index=values), "arrow": lambda a: pa.table({"a": a}),
    "text": lambda a: pd.Series([*map(str, a)]), "lazy": lambda a: pl.LazyFrame({"a": a}),
    "categories": lambda values: pd.Series([*map(str, values)], dtype="category"),
    "nullable": lambda values: pd.Series([*values, None], dtype="Float64"),
    "sparse column": lambda values: pd.Series(pd.arrays.SparseArray([*values, 0.0])),
    "sparse matrix": lambda values: sp.csr_matrix([[*values, 0.0]]),
    "polars": lambda values: pl.DataFrame({"a": values, "b": "x"}),
    "generator": lambda values: np.random.default_rng([int(abs(one)) for one in values]),
}  # fmt: skip


_QUICK = ["numpy", "pandas", "sparse matrix", "polars"]


@pytest.mark.parametrize("kind", [*_QUICK, *slow(*(one for one in COLUMNS if one not in _QUICK))])
@given(values=st.lists(st.integers(-99, 99).map(float), min_size=1, max_size=4), data=st.data())
def test_tables_of_any_library_count_by_content(kind: str, values: list[float], data: Any) -> None:
    """Any type: a change of one number gives another fingerprint."""
    place = data.draw(st.integers(0, len(values) - 1))
    other = [*values]
    other[place] = 100.0
    held = [functools.partial(_function, COLUMNS[kind](one)) for one in (values, [*values], other)]
    same, copy, changed = map(digest, held)
    assert same == copy
    assert same != changed


#: Functions that import when they are called: the name, the import, the call.
IMPORTS = [
    ("exported", "from pack import go", "go"), ("member", "from pack import sub", "sub.inner"),
    ("relative", "from . import sub", "sub.inner"), ("dotted", "import pack.sub", "pack.sub.inner"),
    ("spaced", "import spaced.deep as deep", "deep.value"),
    ("same_dotted", "import pack.same", "pack.same.same"),
    ("same_named", "import pack.same as one", "one.same"),
]  # fmt: skip
SOURCES = {
    "helpers.py": """
import inner
from inner import Base, imported
ALPHA = 1
def helper(x): return x * ALPHA
def late(train):
    from inner import later
    return later(train)
def by_module(train): return inner.attribute(train)
def by_name(train): return imported(train)
def nested(train): return [lambda: helper(train) for _ in train]
class Model(Base):
    def fit(self, train): return super().fit(train)
    def test(self, testset): return helper(testset)
""",
    "inner.py": """
BETA = 1
def imported(x): return x + BETA
def attribute(x): return x + 2
def later(x): return x + 3
class Base:
    def fit(self, train): return 4
""",
    "pack/__init__.py": "from .exported import go",
    "pack/exported.py": "from spaced import deep\ndef go(x): return deep.value(x) + 1",
    "pack/sub.py": "def inner(x): return x + 2",
    "pack/same.py": "def same(x): return x + 4",
    "pack/model.py": "\n".join(
        f"def {name}(train):\n    {line}\n    return {call}(train)" for name, line, call in IMPORTS
    )
    + "\ndef held(train, modules={'a': __import__('pack.exported').exported}): return train",
    "spaced/deep.py": "def value(x): return x + 3",  # in no package
}
MODELS = {
    "helpers": ("late", "by_module", "by_name", "nested", "Model"),
    "pack.model": (*(name for name, _, _ in IMPORTS), "held"),
}
CHANGES: dict[str, tuple[str, str, str, set[str]]] = {
    "a helper": ("helpers.py", "x * ALPHA", "x / ALPHA", {"nested", "Model"}),
    "a global": ("helpers.py", "ALPHA = 1", "ALPHA = 2", {"nested", "Model"}),
    "an imported function": ("inner.py", "x + BETA", "x - BETA", {"by_name"}),
    "a module's function": ("inner.py", "x + 2", "x - 2", {"by_module"}),
    "a late import": ("inner.py", "x + 3", "x - 3", {"late"}),
    "a base class": ("inner.py", "return 4", "return 5", {"Model"}),
    "a package's export": ("pack/exported.py", "+ 1", "- 1", {"exported", "held"}),
    "a submodule": ("pack/sub.py", "x + 2", "x - 2", {"member", "relative", "dotted"}),
    "no package": ("spaced/deep.py", "x + 3", "x - 3", {"exported", "spaced", "held"}),
    "its module's name": ("pack/same.py", "x + 4", "x - 4", {"same_dotted", "same_named"}),
    "an annotation": ("helpers.py", "nested(train)", "nested(train: 'int') -> list", set()),
    "a docstring": ("inner.py", "class Base:", 'class Base:\n    "Doc."', set()),
    "a comment": ("helpers.py", "ALPHA = 1", "# first\nALPHA = 1", set()),
    "another function": ("helpers.py", "class Model", "def f(): ...\nclass Model", set()),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_modules_that_a_model_uses_counts(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However they are imported; unused functions and comments do not count."""
    file, before, after, expected = CHANGES[change]
    changed = SOURCES | {file: SOURCES[file].replace(before, after)}
    one = _fingerprints(SOURCES, tmp_path / "one", monkeypatch)
    other = _fingerprints(changed, tmp_path / "other", monkeypatch)
    assert {name for name in one if one[name] != other[name]} == expected


def _fingerprints(sources: dict[str, str], folder: Path, monkeypatch: Any) -> dict[str, str]:
    """Return the fingerprints of the models in some source files."""
    for name, source in sources.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(source)
    roots = ("helpers", "inner", "pack", "spaced")
    for name in [one for one in sys.modules if one.partition(".")[0] in roots]:
        monkeypatch.delitem(sys.modules, name)
    with monkeypatch.context() as patched:
        patched.syspath_prepend(str(folder))
        importlib.invalidate_caches()
        modules = {one: importlib.import_module(one) for one in MODELS}
        return {name: digest(getattr(modules[one], name)) for one in MODELS for name in MODELS[one]}


class Odd:
    """An object that fails when it is inspected."""

    def __getattr__(self, name: str) -> Any:
        """Raise an unusual error."""
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
    root: dict[str, Any] = {}
    root["children"] = [{"parent": root}]
    return root


ODD: dict[str, tuple[Any, bool]] = {
    "an odd object": (Odd(), True), "odd keys": ({Odd(): 1}, True), "a cycle": (_cyclic(), False),
    "a dtype": (np.dtype("float32"), False), "many digits": (10**5000, False),
    "deep": (_deep(), True),
}  # fmt: skip


def test_no_parameter_ends_an_experiment(tmp_path: Path) -> None:
    """A model whose parameters cannot be compared is trained again, with a warning."""
    given = {
        name: lambda train, held=parameter: (held, item_means(train))[1]
        for name, (parameter, _) in ODD.items()
    }
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(given, folder=tmp_path, **QUICK)
        texts = [str(one.message) for one in caught]
        assert all(": its folds are trained again" in text for text in texts)
    warned = [name for name in ODD if any(text.startswith(name) for text in texts)]
    assert warned == [name for name, (_, warns) in ODD.items() if warns]


def test_the_environment_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor other texts in a function's globals; a run resumes in another shell."""
    monkeypatch.setenv("TOKEN_OF_A_TEST", "hush")
    source = "def f(train): environ.get('A'), KEYS['a']; return lambda pairs: [*range(len(pairs))]"
    for value in ("one", "two"):
        monkeypatch.setenv("OTHER_OF_A_TEST", value)
        model = _compiled(source, environ=os.environ, KEYS={"a": "hush"})
        run(with_top(model), folder=tmp_path)
    saved = (tmp_path / "models" / "f" / "model.json").read_text()
    assert "environ" in saved
    assert "hush" not in saved


def test_large_dicts_of_numpy_keys_are_fast() -> None:
    """Such as `dict.fromkeys(table["user"].unique())`."""
    keys = np.arange(3_000)
    one, same, other = (digest(dict.fromkeys(of)) for of in (keys, keys.copy(), keys[::-1]))
    assert one == same != other


def test_memory_order_and_cached_properties_do_not_count() -> None:
    """An array counts by its values, a cached property by its function."""
    table = np.arange(6.0).reshape(2, 3)
    assert digest(table[:, 1]) == digest(table[:, 1].copy())
    assert digest(table.T) != digest(table)

    def with_cached_property(value: Any) -> Any:
        read = functools.cached_property(lambda _: value)
        read.__set_name__(Called, "read")
        return type("Own", (), {"read": read, "fit": None})()

    one, same, other = map(digest, map(with_cached_property, (1, 1, 2)))
    assert one == same != other


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


@pytest.mark.slow
def test_a_fingerprint_is_the_same_in_another_process(tmp_path: Path) -> None:
    """With another hash seed, from another folder, before and after modules are compiled."""
    for name, source in (SOURCES | {"main.py": PRINTS}).items():
        if "/" not in name:
            (tmp_path / name).write_text(source)
    words = tmp_path / "main.py", tmp_path
    first = run_python(*words, cwd=tmp_path, PYTHONHASHSEED="1").stdout
    assert first == run_python(*words, cwd=Path("/"), PYTHONHASHSEED="2").stdout
    assert first.count("\n") == 7


def test_a_value_that_cannot_be_compared_is_an_error() -> None:
    """The message has its type, wherever it is."""
    with pytest.raises(FingerprintError, match=r"an object of _thread\.lock"):
        fingerprint({"a": [Called(threading.Lock())]})
    assert describe_value(threading.Lock()) == "_thread.lock"


def _locked(offset: float = 1.0) -> dict[str, Any]:
    """Return a model without fingerprint, and one with."""
    lock = threading.Lock()
    model = lambda train: (lock, lambda pairs: item_means(train)(pairs) + offset)[1]  # noqa: E731
    return {"locked": model, "top": MostPopular()}


AGAIN = "locked: its folds are trained again"


def test_a_model_without_fingerprint_is_trained_again(tmp_path: Path) -> None:
    """With one warning per run; the other models resume."""
    trained: list[Any] = []
    for _ in range(2):
        with pytest.warns(rn.DataWarning, match=AGAIN) as caught:
            run(_locked(), folder=tmp_path, on_result=trained.append)
        assert len(caught) == 1
    assert rn.load_runs(tmp_path).table["done"].tolist() == [2] * 2
    run(_locked(), folder=tmp_path, fingerprint="v1", on_result=trained.append)
    assert [one.model for one in trained] == ["locked", "top"] * 2 + ["locked"] * 4


def test_results_of_another_process_without_fingerprint_are_not_used(tmp_path: Path) -> None:
    """Two models without fingerprints are not the same model."""
    trained: list[str] = []

    def start_another(*_: Any) -> None:
        if not trained:
            trained.append("another")
            with pytest.warns(rn.DataWarning, match=AGAIN):
                run(_locked(-5.0), folder=tmp_path)

    options: dict[str, Any] = {"progress": start_another}
    with pytest.warns(rn.DataWarning, match=AGAIN):
        run(_locked(), folder=tmp_path, on_result=lambda one: trained.append(one.model), **options)
    assert trained == ["another", "locked", "locked"]


def test_versions_of_imported_libraries_count() -> None:
    """Also those imported inside a function."""
    late = _compiled("def f(train):\n    import sklearn.svm\n    return sklearn.svm, train")
    assert set(fingerprint(SVD())[1]) == {"surprise"}
    assert {"numpy", "python"} <= set(fingerprint(lambda: np.ones(1))[1])
    pytest.importorskip("sklearn")
    assert {"python", "sklearn"} == set(fingerprint(late)[1]) - {"pytest"}


def test_a_library_that_was_copied_counts_by_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into the folder of libraries, without the metadata of an installation."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    for name, version in {"copied_library": "__version__ = '1.2'", "copied_without": ""}.items():
        (folder / f"{name}.py").write_text(f"{version}\ndef f(train): return train")
    monkeypatch.syspath_prepend(folder)
    found = {
        name: fingerprint(importlib.import_module(name).f)[1]
        for name in ("copied_library", "copied_without")
    }
    assert found == {"copied_library": {"copied_library": "1.2"}, "copied_without": {}}


def test_a_description_has_the_values_that_a_model_uses() -> None:
    """The attributes of a method's object, and the numbers among the globals of a function."""
    assert Model("m", Called(7).method, is_reseeded=False).describe()["parameters"] == {"value": 7}
    function = _compiled("def f(train): return train * A + B[0]", A=2.5, B=[1])
    used = Model("f", function, is_reseeded=False).describe()["globals"]
    assert used["A"] == 2.5
    assert used["B"].startswith("builtins.list ")


@pytest.mark.slow
def test_a_fingerprint_imports_nothing() -> None:
    """A library that a function would import is found by its version only."""
    script = (
        "import sys\nfrom recsys_ndcg.experiments.fingerprints import fingerprint\n"
        "def f(train):\n    import matplotlib.pyplot, sqlite3.dbapi2\n"
        "print(fingerprint(f)[1].keys(), 'sqlite3' in sys.modules)\n"
    )
    assert run_python("-c", script).stdout.endswith("False\n")


def test_a_fingerprint_by_name_replaces_the_computed_one(tmp_path: Path) -> None:
    """The model may then have other parameters."""
    for n_epochs, options in ((1, {}), (2, {"on_result": pytest.fail})):
        run(with_top(SVD(n_epochs=n_epochs)), folder=tmp_path, fingerprint={"f": "v1"}, **options)


@pytest.mark.parametrize("wrong", [7, 0, "", {}, {"f": 7}, {"f": ""}, {"g": "v1"}, {None: "v1"}])
def test_an_invalid_fingerprint_is_an_error(wrong: Any) -> None:
    """Before anything is trained."""
    assert_rejected("fingerprint", run, with_top(pytest.fail), fingerprint=wrong)
