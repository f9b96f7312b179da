"""Options of several commands, and parsers of their values."""

from __future__ import annotations

import ast
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter, Token, convert

from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, label_messages, replace_code

if TYPE_CHECKING:
    from recsys_ndcg.convention import ConventionLike
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring import Cutoffs, Plan

_CUSTOM_METRIC = re.compile(
    r"(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)(?P<rest>(\([^()]*\))?(@[^@:/.]*)?)"
)
_CUTOFFS = re.compile(r"(\d+|none)(,(\d+|none))*")
_HEADINGS = (
    "Predictions, Text files, Metrics, How numbers are computed, Measures beyond accuracy, "
    "Comparison, Pass or fail, Options, Output"
)
#: The groups of options, by their headings in --help and in its order.
GROUPS = {name: Group(name, sort_key=at) for at, name in enumerate(_HEADINGS.split(", "))}
#: The options of the command that runs, by their names in Python.
_names: ContextVar[Mapping[str, Sequence[str]]] = ContextVar("_names", default={})  # noqa: B039 - never changed
#: Python's names of options, if the command line has others.
_OTHER_NAMES = {"separator": "sep", "list_separator": "list_sep"}
_FILE_FORMAT = "(path, rn.TextFormat("
#: Calls of Python in remarks, and the options that do the same.
_PHRASES = {
    "RankedLists.from_labels(labels, results)": "--labels FILE --results FILE",
    "(catalogue=items, or their number)": "(--catalogue FILE, or --n-items N)",
    "columns={'estimated': 'rank'}": "--columns estimated=rank",
    "Convention.from_signature": "--full-signature",
}


def list_under(heading: str) -> Parameter:
    """Return what lists the fields of a dataclass as options of their own, below a heading."""
    return Parameter(name="*", group=GROUPS[heading])


def option(
    metavar: str | None, *names: str, words: str | Iterable[str] = (), **how: Any
) -> Parameter:
    """Return how an option is written: what stands for its value, its names if it has several.

    Shells complete its value to `words`; ``module:NAME`` is imported only when a shell asks.
    """

    def complete(_: object) -> list[str]:
        if not isinstance(words, str):
            return [*words]
        module, _, name = words.partition(":")
        known = getattr(import_module(f"recsys_ndcg.{module}"), name)
        return [*(known() if callable(known) else known)]

    return Parameter(names, metavar=metavar, completer=complete if words else None, **how)


def _parse_integer(_: type, tokens: Sequence[Token]) -> int:
    try:
        return int(tokens[0].value)  # cyclopts would round 2.7
    except ValueError:
        msg = f"{tokens[0].value!r} is no whole number."
        raise ValueError(msg) from None


def _parse_word(kind: type, tokens: Sequence[Token]) -> Any:
    """Return one of some words, in upper or lower case."""
    return convert(kind, [one.evolve(value=one.value.lower()) for one in tokens])


Flag = Annotated[bool, Parameter(show_default=False)]
Number = Annotated[float, option("NUMBER")]
Integer = Annotated[int, option("N", converter=_parse_integer)]
Cutoff = Annotated[int, option("K", "-k", "--k", converter=_parse_integer)]
Text = Annotated[str, option("NAME")]
Pairs = Annotated[str, option("OURS=THEIRS,...", show_default=False)]
#: The last two are for programs: every digit, and no text around the table.
Format = Annotated[
    Literal["text", "markdown", "latex", "csv", "json"],
    option("FORMAT", "--format", converter=_parse_word),
]
MetricName = Annotated[str, option("METRIC", "--metric", "--metrics", words="metrics:METRICS")]
MetricNames = Annotated[
    list[str], option("METRIC[,METRIC...]", "--metrics", "--metric", words="metrics:METRICS")
]


@list_under("How numbers are computed")
@dataclass(frozen=True)
class ConventionOptions:
    """The options that change numbers.

    Parameters
    ----------
    threshold : float, optional
        Ratings at or above this count as relevant. Precision, recall and other binary metrics
        need it, unless every true value is 0 or 1.
    preset : str, optional
        Compute metrics as this library does, such as trec_eval or sklearn. 'recsys-ndcg presets'
        lists all.
    convention : list of str, optional
        Set an option of the metrics, such as gain=linear; repeatable.
    """

    threshold: Number | None = None
    preset: Annotated[str | None, option("LIBRARY", words="convention:PRESETS")] = None
    convention: Annotated[list[str] | None, option("NAME=VALUE")] = None

    def plan(self, metrics: Sequence[str] | None, k: Cutoffs, gated: Sequence[Metric] = ()) -> Plan:
        """Return the plan: metrics under a preset or a signature, with single options changed.

        A value of --convention is ``key=value`` pairs with commas, of which gain may be a mapping,
        ``gain=0:0/1:1/2:3``; or a signature, which sets every option, and the threshold if
        --threshold is not given.

        Parameters
        ----------
        metrics : sequence of str, optional
            The default ones if None. Default metrics that need a missing threshold are left out,
            unless a gate needs one as well.
        k : cutoffs
            The cutoffs of names without their own, as in `recsys_ndcg.evaluate`.
        gated : sequence of Metric
            The metrics of gates, which are added.

        Examples
        --------
        >>> plan = ConventionOptions(4, "catboost", ["short_list=k"]).plan(["ndcg", "ap"], [10])
        >>> [(str(one), one.convention.undefined) for one in plan.measurements]
        [('ndcg@10', 1.0), ('ap@10', 0.0)]
        """
        from recsys_ndcg.convention import Convention, parse_choice
        from recsys_ndcg.scoring import Plan

        texts = [text.removeprefix("yours: ") for text in self.convention or ()]
        signatures = [text for text in texts if "|" in text or text.startswith("defaults:")]
        if len(signatures) + (self.preset is not None) > 1:
            msg = "A preset or a signature sets every option. Pass only one of them."
            raise InvalidInputError(msg)
        chosen = ",".join(text for text in texts if text not in signatures)
        given = parse_pairs(chosen, "--convention") or {}
        if ":" in given.get("gain", ""):
            given["gain"] = f"map({given['gain'].replace(':', '=').replace('/', ',')})"
        convention: ConventionLike = self.preset
        threshold = self.threshold
        for text in signatures:
            convention = Convention.from_signature(text)
            if threshold is None:
                value = Convention.parse_texts(text)[1].get("threshold", "none")
                threshold = parse_choice("threshold", value)
        under: dict[str, Any] = {"k": k, "threshold": threshold, "convention": convention}
        plan = Plan.of(metrics, **under)
        if gated:
            needed = any(one.needs_threshold for one in gated)
            every = Plan.of([*plan.names, *map(str, gated)], **under)
            plan = replace(every, is_default=plan.is_default and not needed)
        return plan.with_choices(**{key: parse_choice(key, text) for key, text in given.items()})


@list_under("Metrics")
@dataclass(frozen=True)
class MetricOptions:
    """The metrics and their cutoffs.

    Parameters
    ----------
    k : list of str, optional
        Cutoffs, such as 10 or 5,10; none for whole lists; repeatable.  [default: 10, or the
        preset's]
    metrics : list of str, optional
        Metrics, such as ndcg,precision@5,rr; repeatable. The first is the main metric.
        'recsys-ndcg metrics' lists all.
    """

    k: Annotated[list[str] | None, option("K[,K...]", "-k", "--k")] = None
    metrics: MetricNames | None = None

    def read_cutoffs(self, preset: str | None) -> list[int | None]:
        """Return the cutoffs, by default those of a preset."""
        from recsys_ndcg.scoring import Plan

        if not self.k:
            return Plan.complete_options("default", None, preset)[0]
        text = ",".join(self.k)
        try:
            return [None if part.strip() == "none" else int(part) for part in text.split(",")]
        except ValueError:
            msg = f"-k must be whole numbers or none, such as 10 or 5,10, not {text!r}."
            raise InvalidInputError(msg) from None

    @property
    def names(self) -> list[str] | None:
        """The names of the metrics, or None for the default ones."""
        return parse_metric_names(self.metrics) if self.metrics else None


def list_changed_options(*groups: Any) -> list[str]:
    """Return the options that do not have their default values."""
    return [
        f"--{one.name.replace('_', '-')}"
        for group in groups
        for one in fields(group)
        if getattr(group, one.name) != one.default
    ]


def parse_pairs(text: str, option: str) -> dict[str, Any] | None:
    """Parse ``a=b,c=d`` as a dict; return None for an empty text.

    Columns that are named twice have a list of names.

    Examples
    --------
    >>> parse_pairs("estimated=est,true=r_ui", "--columns")
    {'estimated': 'est', 'true': 'r_ui'}
    >>> parse_pairs("user=uid,user=visitor", "--columns")
    {'user': ['uid', 'visitor']}
    """
    found: dict[str, Any] = {}
    from recsys_ndcg.convention import split_names

    for part in split_names(text):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            msg = f"{option}: {part!r} is not of the form NAME=VALUE."
            raise InvalidInputError(msg)
        known = found.get(key, []) if option == "--columns" else []
        known = known if isinstance(known, list) else [known]
        found[key] = [*known, value] if known else value
    return found or None


def repeat_options(words: Sequence[str]) -> list[str]:
    """Repeat an option that takes several values before each of them.

    A word that cannot be its value is a file.

    Examples
    --------
    >>> repeat_options(["--convention", "gain=linear", "ties=input", "-k", "5", "10"])
    ['--convention', 'gain=linear', '--convention', 'ties=input', '-k', '5', '-k', '10']
    >>> repeat_options(["--metrics", "ndcg", "rr", "data.csv"])
    ['--metrics', 'ndcg', '--metrics', 'rr', 'data.csv']
    """
    found: list[str] = []
    for word in words:
        name = found[-2] if len(found) > 1 else ""
        if name in _IS_VALUE and _IS_VALUE[name](word):
            found.append(name)
        found.append(word)
    return found


def _is_convention(word: str) -> bool:
    from recsys_ndcg.convention import Convention

    return word.partition("=")[0] in Convention.field_names() and "=" in word


def _is_metric(word: str) -> bool:
    from recsys_ndcg.convention import split_names
    from recsys_ndcg.metrics import parse_metrics

    names = split_names(word) or [""]
    try:
        return all(_CUSTOM_METRIC.fullmatch(name) or parse_metrics(name) for name in names)
    except RecsysNdcgError:
        return False


def _is_kind(word: str) -> bool:
    from recsys_ndcg.findings import list_kinds

    return {*word.split(",")} <= {*list_kinds()}


_IS_VALUE: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(("-k", "--k"), _CUTOFFS.fullmatch),
    **dict.fromkeys(("--metrics", "--metric"), _is_metric),
    "--convention": _is_convention,
    **dict.fromkeys(("--fail-on", "--accept"), _is_kind),
}


def parse_metric_names(texts: Sequence[str]) -> list[str]:
    """Split lists of metrics at their commas, and import custom metrics.

    ``package.module:name@10`` is a custom metric, which may be in the current folder.

    Examples
    --------
    >>> parse_metric_names(["ndcg@5,rr", "rbp(p=0.9)@10"])
    ['ndcg@5', 'rr', 'rbp(p=0.9)@10']
    """
    from recsys_ndcg.convention import split_names

    return [_import_metric(name) for name in split_names(texts)]


def parse_metric(text: str, option: str, k: Sequence[int | None]) -> Metric:
    """Parse the name of one metric.

    Raises
    ------
    InvalidInputError
        The text names no metric, or several.
    """
    from recsys_ndcg.metrics import parse_metrics

    found = [one for name in parse_metric_names([text]) for one in parse_metrics(name, k)]
    if len(found) != 1:
        names = f": {', '.join(map(str, found))}" if found else ""
        msg = f"{option} {text}: that is {len(found)} metrics{names}. Name one, such as ndcg@10."
        raise InvalidInputError(msg)
    return found[0]


def _import_metric(text: str) -> str:
    """Return the name of a metric; import it first if the text has its module.

    Raises
    ------
    InvalidInputError
        The module is missing or fails, or has no such metric.
    """
    found = _CUSTOM_METRIC.fullmatch(text)
    if found is None:
        return text
    from recsys_ndcg import Metric, metric

    if "" not in sys.path:
        sys.path.insert(0, "")
    with label_messages(f"--metrics {text}"):
        try:
            kind = getattr(import_module(found["module"]), found["name"])
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a user's module may raise anything
            msg = f"it cannot be imported ({error!r})."
            raise InvalidInputError(msg) from None
        if not (isinstance(kind, type) and issubclass(kind, Metric)):
            msg = f"{found['name']!r} is no metric. Decorate it with @rn.metric."
            raise InvalidInputError(msg)
        return f"{metric(kind).name}{found['rest']}"


def set_names(names: Mapping[str, Sequence[str]]) -> None:
    """Set how the options of the command are typed, for `write_options`."""
    _names.set(names)


def write_options(message: Exception | str) -> str:
    """Return a message with the options to type in place of the Python that it marks.

    Python stays where the command has no such option.

    Examples
    --------
    >>> set_names({"columns": ["--columns"]})
    >>> write_options(InvalidInputError("Pass `columns={'estimated': 'est'}`, not `k=5`."))
    'Pass --columns estimated=est, not k=5.'
    """
    text = message if isinstance(message, str) else str(message.args[0])
    return replace_code(text, _write_option)


def write_remark(text: str) -> str:
    """Return a remark with options in place of calls of Python, if the command has them."""
    for python, typed in _PHRASES.items() if "labels" in _names.get() else ():
        text = text.replace(python, typed)
    return text


def _write_option(code: str) -> str:
    from recsys_ndcg.convention import Convention

    names = _names.get()
    if code.startswith(_FILE_FORMAT):
        name, _, value = code.removeprefix(_FILE_FORMAT).rstrip(")").partition("=")
        value = {"False": "no", "True": "yes"}.get(value, value.strip("'"))
        typed = f"FILE,{_OTHER_NAMES.get(name, name)}={value}"
        return typed if value[-1].isalnum() else f"'{typed}'"
    if "=" not in code.partition("(")[0] and "labels" in code:
        return "--labels FILE --results FILE" if "labels" in names else code
    name, _, value = code.rpartition("elsewhere ")[2].partition("=")
    option = names.get(_OTHER_NAMES.get(name, name), [""])[0]
    value = _write_value(value)
    if name == "convention" and value and "=" not in value:
        option = "--preset"
    elif not option and value and name in Convention.field_names() and "convention" in names:
        option, value = "--convention", f"{name}={value}"
    return f"{option} {value}".rstrip() if option else code


def _write_value(text: str) -> str:
    """Return a value of Python as a user types it: without quotes, mappings as name=value."""
    if text.startswith("Convention("):
        return shlex.quote(text.removeprefix("Convention(").rstrip(")").replace("'", ""))
    with suppress(ValueError, SyntaxError):
        value = ast.literal_eval(text)
        pairs = value.items() if isinstance(value, dict) else ()
        typed = [
            f"{ours}={'...' if one is ... else one}"
            for ours, theirs in pairs
            for one in (theirs if isinstance(theirs, list) else [theirs])
        ]
        word = ",".join(typed) or str(value)
        return shlex.quote(word) if re.search(r"\w", word) else f"'{word}'"
    return text
