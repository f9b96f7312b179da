"""Convention: every choice that can change a number, as one value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field, fields
from hashlib import sha256
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import beyond, formulas, gains, notation, presets
from recsys_ndcg.convention.gains import Discount, Gain
from recsys_ndcg.convention.notation import parse_metric_name
from recsys_ndcg.convention.tie_rules import TIE_RULES, TieRule, TieRuleName
from recsys_ndcg.errors import InvalidInputError, as_float, check_choice, is_number, quote, suggest
from recsys_ndcg.lazy import Viewed, lazy_property

_OTHER_VALUES = {
    "gain": ", a mapping {grade: gain} or a function",
    "discount": ", or a function",
    "distance": ", or a function",
}
_WORDS = {"tie_tolerance": "float32", "recommend_from": "threshold"}  # besides numbers
#: The fields that a report's signature adds; `defaults` replaces all choices at their default.
REPORT_FIELDS = [
    *("threshold", "short_below", "own", "value_of"),
    *("train", "catalogue", "features", "base", "groups", "weights"),
    *("protocol", "users", "version", "defaults"),
]


@dataclass(frozen=True, kw_only=True)
class Convention(Viewed):
    """All choices that can change a number.

    Parameters
    ----------
    library : str, optional
        The name of a library: each metric is measured as it does (`presets`), but for the choices
        that are given.
    gain : {'exponential', 'linear', 'binary', 'exponential_above'}, mapping or callable
        The gain of a grade t: 2^t - 1 (Burges et al. 2005), t (Järvelin & Kekäläinen 2002),
        1 if relevant, 2^(t - threshold + 1) - 1 if relevant; ``{grade: gain}``; or a function of
        an array of grades, element by element.
    discount : {'log2', 'ln', 'log2_max', 'reciprocal'} or callable
        The weight of rank r: 1/log2(r + 1), 1/ln(r + 1), 1/max(log2 r, 1), 1/r, or a function of
        an array of ranks whose values never increase.
    ideal : {'global', 'local', 'max'}
        The DCG that NDCG divides by: of all the user's labelled items, of the items in the
        list, or of the top grade at every rank (`max_grade`; not needed for binary gains).
    unlabelled : {'zero', 'filter', 'raise'}
        An item without a true value has gain 0 and is not relevant, is removed before ranking,
        or is an error.
    ties : {'expected', 'input', 'best', 'worst', 'item_asc', 'item_desc', 'text_asc', 'text_desc'}
        The order of equal estimates: the exact mean over all orders (McSherry & Najork 2008), the
        order of the rows, the best or worst order, by item id, or by item id as text, as in TREC
        tools: 10 comes before 9.
    tie_tolerance : float or 'float32'
        Estimates are rounded to multiples of this step before ranking, or to single precision, as
        in trec_eval. 0 compares exactly.
    short_list : {'k', 'n', 'drop'}
        A user with n < k items: precision is over k, over min(k, n), or the user is left out of
        every metric with the cutoff k. Under 'drop', a metric without a cutoff, such as RR or RMSE,
        leaves out users with fewer items than the smallest k in use. Under 'n', an empty list
        scores 0, and adds 1 to the pooled denominator.
    recall_over : {'relevant', 'capped'}
        Recall is over R relevant items, or over min(k, R).
    ap_over : {'relevant', 'capped', 'k', 'hits'}
        Average precision is over R, min(k, R), k, or the hits in the top k. Over hits a better
        order can score less, so there is no chance level, best or worst order, adjusted score or
        tie range.
    undefined : {'skip', 0.0, 1.0, 'raise'}
        The score of a user whose denominator is 0. It changes the mean, not the pooled score.
    missing_user : {'zero', 'skip', 'raise'}
        A labelled user without a list: scores like an empty list, is left out, or is an error.
    unlisted : {'count', 'ignore'}
        A labelled item that is not in the user's list: counts for recall, AP and the global
        ideal, or is ignored, as in libraries that see only the lists.
    impossible : {'rank', 'last', 'drop'}
        A prediction that the model could not make (Surprise's ``was_impossible``, mostly the mean
        of all ratings): ranked by its estimate, after all others, or removed from the list, so
        that its label is `unlisted`.
    mean_over : {'all', 'labelled', 'relevant', 'lists', 'train'}
        The users who count, in the mean and pooled: all users, users with a labelled item, with a
        relevant item, with a list, or with training rows.
    duplicates : {'raise', 'first', 'last', 'max', 'mean'}
        Rows with the same (user, item): an error, or merged by this rule.
    recommend_from : float or 'threshold', optional
        Only items with an estimate of at least this number, or under ``"threshold"`` of at least
        the threshold of relevance, count as recommended, in precision, recall and F1. Estimates are
        rounded to `tie_tolerance` before the comparison; under ``"float32"`` the limit is rounded,
        too.
    max_grade : float, optional
        The top grade, for ``ideal="max"``.
    popularity_of : {'users', 'rows'}
        What measures popularity: an item's users in training, or its rows. Under ``"rows"`` a
        training item of repeated rows also counts repeatedly in its user's history.
    popularity_as : {'count', 'share', 'max', 'rank'}
        Popularity as a count, over all training rows, over the largest, or as a rank in (0, 1].
    cold_item : {'by_measure', 'zero', 'one_user', 'rarest', 'drop', 'raise'}
        An item without training rows: popularity 0, the novelty of an item of one user and in EPC
        the value 1; 0 in all three (in EPC as if everyone had it); as if one user had it; as the
        rarest item; left out of the list; or an error.
    missing_feature : {'raise', 'drop', 'zero'}
        A recommended item without an entry in the features: an error, left out, or 0.
    list_over : {'n', 'k', 'one', 'full'}
        A mean over a list is over min(k, n) items, over k, or is a sum. ``"full"`` is ``"k"``, and
        personalization counts the overlap of a list with itself as k items.
    distance : {'by_column', 'hamming', 'jaccard', 'cosine', 'category', 'cooccurrence'} or callable
        The distance of two items: by the kind of the column (sets: Jaccard, vectors: cosine,
        categories: 0 or 1, several columns: the number that differ, or the cosine if all are
        numbers); or a function of two arrays of rows of the features that returns their distances.
        ``"hamming"`` counts the columns that differ; of one column of sets the members that only
        one of the two has, of vectors the entries that differ.
    universe : {'catalogue', 'train', 'recommended', 'padded'}
        All items, of which coverage and Gini are: the catalogue, the items of training, the
        recommended items, or the catalogue and one more.
    outside : {'raise', 'count', 'ignore'}
        A recommended item outside the universe: an error, counted, or ignored. If counted, the
        number of items in Gini is that of the universe, or of the shown items if they are more.
    tail : {'reach', 'pass', 'rarest', 'count'}
        The long tail: all but the most popular items that reach, or pass, the share `tail_at` of
        all popularity (0.8); the rarest share `tail_at` of the items (0.1); or the items with at
        most `tail_at` training users (or rows: `popularity_of`).
    seen : {'count', 'raise'}
        A recommended item that the user had in training: counted, or an error.
    parity_of : {'hits', 'shown'}
        Group rates of hits per relevant item, or of recommendations.
    tail_at : float, optional
        The share or the count that ends the tail.
    patience : float, optional
        The weight of rank r is patience^(r-1): in Gini, calibration, upd and category_entropy
        (by default 1), and in expected exposure and AWRF (by default 0.5).

    Raises
    ------
    InvalidInputError
        There is no such option, or no such value of it.

    Examples
    --------
    >>> Convention(gain="linear").signature[:40]
    'gain:linear|discount:log2|ideal:global|u'
    """

    gain: Gain = "exponential"
    discount: Discount = "log2"
    ideal: Literal["global", "local", "max"] = "global"
    unlabelled: Literal["zero", "filter", "raise"] = "zero"
    ties: TieRuleName = "expected"
    tie_tolerance: float | Literal["float32"] = 0.0
    short_list: Literal["k", "n", "drop"] = "k"
    recall_over: Literal["relevant", "capped"] = "relevant"
    ap_over: Literal["relevant", "capped", "k", "hits"] = "relevant"
    undefined: Literal["skip", "raise"] | float = "skip"
    missing_user: Literal["zero", "skip", "raise"] = "zero"
    unlisted: Literal["count", "ignore"] = "count"
    impossible: Literal["rank", "last", "drop"] = "rank"
    mean_over: Literal["all", "labelled", "relevant", "lists", "train"] = "all"
    duplicates: Literal["raise", "first", "last", "max", "mean"] = "raise"
    recommend_from: float | Literal["threshold"] | None = None
    max_grade: float | None = None
    popularity_of: Literal["users", "rows"] = "users"
    popularity_as: Literal["count", "share", "max", "rank"] = "count"
    cold_item: Literal["by_measure", "zero", "one_user", "rarest", "drop", "raise"] = "by_measure"
    missing_feature: Literal["raise", "drop", "zero"] = "raise"
    list_over: Literal["n", "k", "one", "full"] = "n"
    distance: (
        Literal["by_column", "hamming", "jaccard", "cosine", "category", "cooccurrence"]
        | Callable[..., Any]
    ) = "by_column"
    universe: Literal["catalogue", "train", "recommended", "padded"] = "catalogue"
    outside: Literal["raise", "count", "ignore"] = "raise"
    tail: Literal["reach", "pass", "rarest", "count"] = "reach"
    seen: Literal["count", "raise"] = "count"
    parity_of: Literal["hits", "shown"] = "hits"
    tail_at: float | None = None
    patience: float | None = None

    _view: ClassVar[str] = "recsys_ndcg.report:view_convention"
    library: InitVar[str | None] = field(default=None, kw_only=False)

    #: The library that it was made from ("" for a signature), the metric that it was made for (""
    #: for every metric: `resolve` finds the choices for each), and the changes since.
    source: ClassVar[tuple[str, str, dict[str, Any]]] = ("", "", {})
    #: The words that each field accepts, the default first.
    CHOICES: ClassVar[dict[str, tuple[str | float, ...]]] = {
        name: tuple(words) for name, words in formulas.DESCRIPTIONS.items()
    }
    #: The choices of measures beyond accuracy; other metrics' signatures do not have them.
    BEYOND_ACCURACY: ClassVar[tuple[str, ...]] = (*beyond.DESCRIPTIONS, *beyond.NUMBERS)

    if not TYPE_CHECKING:  # a type checker reads the fields

        def __init__(self, library: str | None = None, **choices: Any) -> None:
            """Keep the choices that are not defaults: a library's, then the given ones."""
            if library is not None:
                self.__dict__.update(vars(self.preset(library)), source=(library, "", choices))
            self._set(choices)

    def _set(self, choices: Mapping[str, Any]) -> None:
        """Check some choices, and keep those that are not defaults."""
        for name, value in choices.items():
            if name not in _NAMES:
                msg = f"Convention has no option {name!r}. {suggest(str(name), _NAMES)}"
                raise InvalidInputError(msg)
            self.__dict__.pop(name, None)
            normal = _normalise(name, value)
            if normal != getattr(self, name):
                self.__dict__[name] = normal
        if not choices.keys().isdisjoint(("tail", "tail_at")):
            self._check_tail()
        lacks_top = self.ideal == "max" and self.max_grade is None and self.gain != "binary"
        if lacks_top and not choices.keys().isdisjoint(("ideal", "max_grade", "gain")):
            msg = "ideal='max' needs the top grade of the scale: pass max_grade=5.0, for instance."
            raise InvalidInputError(msg)

    def _check_tail(self) -> None:
        """Raise if `tail_at` is not a share or a count, or is missing."""
        is_count = self.tail == "count"
        if is_count and self.tail_at is None:
            msg = (
                "`tail='count'` needs `tail_at=`, the largest number of training users (or rows) "
                "of an item in the tail, such as `tail_at=5`."
            )
            raise InvalidInputError(msg)
        if self.tail_at is not None and not 0 < self.tail_at < (np.inf if is_count else 1.0):
            kind = "a number of training users (or rows)" if is_count else "a share between 0 and 1"
            msg = f"tail_at must be {kind}, not {self.tail_at}."
            raise InvalidInputError(msg)

    def __repr__(self) -> str:
        """Return the call that makes it, with the choices that are not defaults."""
        library, metric, changes = self.source
        if metric and not library:
            return f"Convention.from_signature({metric + '|' + self.signature!r})"
        names = [name for name in _NAMES if name in vars(self)]
        kept = changes if library else {name: getattr(self, name) for name in names}
        options = ", ".join(f"{name}={value!r}" for name, value in kept.items())
        if metric:
            made = f"Convention.preset({library!r}, {metric!r})"
            return f"{made}.replace({options})" if options else made
        return f"Convention({', '.join(filter(None, [library and repr(library), options]))})"

    def __eq__(self, other: object) -> bool:
        """Return whether both measure every metric in the same way."""
        if not isinstance(other, Convention):
            return NotImplemented
        is_same = self.choices == other.choices
        return is_same and self._choices_by_metric == other._choices_by_metric

    @property
    def _choices_by_metric(self) -> Any:
        """What some metrics are measured by besides: their own choices, or a library's."""
        library, metric, _ = self.source
        if library and not metric:
            return self.source
        return [parse_metric_name(metric), own] if (own := self.find_own_choices(metric)) else []

    def __hash__(self) -> int:
        """Return a hash that equal conventions share, also if `gain` is a mapping."""
        return hash(self.signature)

    def replace(self, **changes: Any) -> Convention:
        """Return the convention with some fields changed.

        Raises
        ------
        InvalidInputError
            There is no such field, or no such value.

        Examples
        --------
        >>> Convention().replace(ties="input").ties
        'input'
        """
        changed = object.__new__(type(self))
        kept = {*_NAMES, "source"} & vars(self).keys()
        changed.__dict__.update({name: vars(self)[name] for name in kept})
        changed._set(changes)
        if "source" in kept:
            library, metric, before = self.source
            changed.__dict__["source"] = library, metric, {**before, **changes}
        return changed

    def select_choices(self, *names: str) -> tuple[Any, ...]:
        """Return some of the choices as a hashable key: the values that are not defaults.

        Examples
        --------
        >>> Convention(gain={0: 0, 1: 3}).select_choices("gain", "ties")
        (('gain', ((0.0, 0.0), (1.0, 3.0))),)
        """
        given = vars(self)
        values = ((name, given[name]) for name in names if name in given)
        return tuple(
            (name, tuple(v.items()) if isinstance(v, Mapping) else v) for name, v in values
        )

    @lazy_property
    def signature(self) -> str:
        """All choices in a fixed order, ``name:value`` joined by ``|``.

        Choices of measures beyond accuracy are left out if they are defaults.
        """
        texts = self.texts.items()
        return "|".join(f"{name}:{text}" for name, text in texts if is_shown(name, text))

    @property
    def choices(self) -> dict[str, Any]:
        """The value of each choice, in the order of the signature."""
        return {name: getattr(self, name) for name in _NAMES}

    @property
    def texts(self) -> dict[str, str]:
        """The text of each choice in a signature, in the order of the signature."""
        given = vars(self)
        return {
            name: notation.format_choice(given[name]) if name in given else text
            for name, text in _DEFAULT_TEXTS.items()
        }

    @staticmethod
    def field_names() -> tuple[str, ...]:
        """Return the names of all choices, in the order of the signature."""
        return _NAMES

    @classmethod
    def format_defaults(cls) -> dict[str, str]:
        """Return the text of each default in a signature."""
        return dict(_DEFAULT_TEXTS)

    @classmethod
    def digest_defaults(cls, *, beyond_accuracy: bool = False) -> str:
        """Return a digest of the defaults, eight characters long.

        Those of `BEYOND_ACCURACY` are included only if asked, so that new ones do not invalidate
        the short signatures of metrics that do not read them.
        """
        texts = cls.format_defaults()
        names = [name for name in texts if beyond_accuracy or name not in cls.BEYOND_ACCURACY]
        return sha256("|".join(f"{name}:{texts[name]}" for name in names).encode()).hexdigest()[:8]

    @classmethod
    def parse_texts(cls, text: str) -> tuple[str, dict[str, str]]:
        """Return the metric in a signature, "" if it has none, and the texts of all choices.

        Raises
        ------
        InvalidInputError
            A part is unknown or missing, or the signature relies on other defaults.
        """
        required = [name for name in _NAMES if name not in cls.BEYOND_ACCURACY]
        optional = [*REPORT_FIELDS, *cls.BEYOND_ACCURACY]
        metric, texts = notation.parse_fields(text, required, optional)
        known = [cls.digest_defaults(), cls.digest_defaults(beyond_accuracy=True)]
        digest = texts.pop("defaults", known[0])
        if digest not in known:
            msg = (
                f"The signature {quote(text)} was shortened by a version with other defaults "
                f"({digest}, not {' or '.join(known)}). Give the full signature."
            )
            raise InvalidInputError(msg)
        return metric, {**cls.format_defaults(), **texts}

    @classmethod
    def from_signature(cls, text: str) -> Convention:
        """Return the convention that a signature describes.

        The text is a `Convention.signature`, or a signature of a report for one metric.
        Choices that are not in the short form of a report's signature, because its metric does
        not read them, get their defaults.

        Raises
        ------
        InvalidInputError
            A part is unknown, missing, or names a function.

        Examples
        --------
        >>> Convention.from_signature(Convention(ties="input").signature).ties
        'input'
        >>> Convention.from_signature("defaults:50b6cd49") == Convention()
        True
        """
        if not isinstance(text, str):
            msg = f"A signature is text, not {quote(text)}."
            raise InvalidInputError(msg)
        metric, texts = cls.parse_texts(text)
        made = cls(**{name: notation.parse_choice(name, texts[name]) for name in _NAMES})
        if "=" in metric:
            made.__dict__["source"] = "", metric, {}
        return made

    def compute_gains(self, true: Floats, threshold: float | None) -> Floats:
        """Return the gain of every grade, 0 for an unlabelled item (NaN).

        Examples
        --------
        >>> Convention().compute_gains(np.array([0.0, 3.0, np.nan]), None)
        array([0., 7., 0.])
        """
        return gains.compute_gains(true, self.gain, threshold)

    def find_faulty_grades(
        self, true: Floats, threshold: float | None
    ) -> tuple[Floats, str, str] | None:
        """Return grades without a usable gain, the problem and the advice, or None."""
        top = self.max_grade if self.ideal == "max" else None
        return gains.find_faulty_grades(true, self.gain, threshold, top)

    def compute_discounts(self, depth: int) -> Floats:
        """Return the weight of the ranks 1 to `depth`.

        Raises
        ------
        InvalidInputError
            A user's function gives weights that are negative, infinite or increasing, so that the
            best order would not have the largest gains first; or there are too many ranks.

        Examples
        --------
        >>> Convention(discount="reciprocal").compute_discounts(3).round(3)
        array([1.   , 0.5  , 0.333])
        """
        if depth > _MAX_RANKS:
            msg = f"A sum over {depth} ranks is too long. Take a cutoff of at most {_MAX_RANKS}."
            raise InvalidInputError(msg)
        if not isinstance(self.discount, str):
            return gains.compute_weights(self.discount, depth, "discount")
        return np.asarray(gains.DISCOUNTS[self.discount](np.arange(1, depth + 1, dtype=np.float64)))

    def find_discount_objection(self, depth: int) -> str:
        """Return why the weights of the ranks 1 to `depth` are not usable; "" if they are."""
        try:
            self.compute_discounts(depth if callable(self.discount) else 1)
        except InvalidInputError as error:
            return str(error)
        return ""

    def round_estimates(self, estimated: Floats) -> Floats:
        """Return estimates as numbers of steps of `tie_tolerance`; equal ones are tied.

        Under ``"float32"`` they are in single precision, and under 0 unchanged.

        Examples
        --------
        >>> Convention(tie_tolerance=0.5).round_estimates(np.array([3.0, 3.9999999999]))
        array([6., 8.])
        """
        step = self.tie_tolerance
        if isinstance(step, str):
            return estimated.astype(np.float32).astype(np.float64)
        return np.rint(estimated / step) if step else estimated

    def find_recommendation_limit(self, threshold: float | None) -> float:
        """Return the lowest estimate of recommended items, in the unit of `round_estimates`.

        Examples
        --------
        >>> Convention(recommend_from=4.0, tie_tolerance=0.5).find_recommendation_limit(None)
        8.0
        """
        value = threshold if self.recommend_from == "threshold" else self.recommend_from
        limit, step = float(value), self.tie_tolerance  # type: ignore[arg-type]
        if isinstance(step, str):
            return float(np.float32(limit))
        # minus 1e-6, because the division may be above a whole number in its last digit
        return float(np.ceil(limit / step - 1e-6)) if step else limit

    @property
    def gain_needs_threshold(self) -> bool:
        """Whether the gain of a grade depends on the threshold of relevance."""
        return self.gain in gains.THRESHOLD_GAINS

    @property
    def tie_rule(self) -> TieRule:
        """What orders items with equal estimates."""
        return TIE_RULES[self.ties]

    @classmethod
    def validate(cls, convention: ConventionLike) -> Convention:
        """Return a convention for one, a mapping of choices, the name of a library, or None.

        Raises
        ------
        InvalidInputError
            It has another type, or there is no such choice or library.
        """
        if convention is None or isinstance(convention, str):
            return cls(convention)
        if isinstance(convention, Mapping):
            return cls(**{str(name): value for name, value in convention.items()})
        if not isinstance(convention, cls):
            msg = (
                f"convention must be a Convention(...), not {quote(convention)}. "
                "For a library's convention, give its name: `convention='sklearn'`, for example."
            )
            raise InvalidInputError(msg)
        return convention

    def resolve(self, metric: str) -> Convention:
        """Return the choices for a metric: a library's for it, then the given ones.

        Raises
        ------
        InvalidInputError
            These are the choices of a preset for another metric.

        Examples
        --------
        >>> Convention("catboost", gain="linear").resolve("ap@10").undefined
        0.0
        """
        library, chosen_for, changes = self.source
        if not library or chosen_for:
            InvalidInputError.raise_if(self.find_preset_mismatch(metric))
            return self
        return self.preset(library, metric).replace(**changes)

    @classmethod
    def preset(cls, name: str, metric: str | None = None) -> Convention:
        """Return the convention of another library.

        Parameters
        ----------
        name : str
            A name in `presets`.
        metric : str, optional
            For example ``"ap@10"``: in some libraries each metric treats users or ties in its own
            way. By default, the convention of the library's NDCG.

        Raises
        ------
        InvalidInputError
            There is no such preset; the nearest name is given.

        Examples
        --------
        >>> Convention.preset("catboost").undefined
        1.0
        >>> Convention.preset("catboost", "ap@10").undefined
        0.0
        """
        choices = presets.find_choices(name, metric)
        convention = cls(**{each: value for each, value in choices.items() if each in _NAMES})
        convention.__dict__["source"] = name, str(metric or "ndcg"), {}
        return convention

    def find_own_choices(self, metric: str) -> dict[str, Any]:
        """Return the choices in a metric's brackets that come with these for that metric.

        Examples
        --------
        >>> Convention.preset("elliot", "gini").find_own_choices("gini@10")
        {'over': 'n-1', 'as': 'equality'}
        """
        library, chosen_for, _ = self.source
        if parse_metric_name(chosen_for) != parse_metric_name(metric):
            return {}
        if not library:
            return notation.parse_options(chosen_for)
        choices = presets.find_choices(library, chosen_for)
        return {name: value for name, value in choices.items() if name not in _NAMES}

    def find_preset_mismatch(self, metric: str) -> str:
        """Return how the library's choices for a metric differ if the preset is for another one.

        Examples
        --------
        >>> Convention.preset("sklearn").find_preset_mismatch("dcg")
        ''
        """
        name, chosen_for, _ = self.source
        if not name or not presets.PRESETS[name].has(metric):
            return ""
        chosen_for = chosen_for or "ndcg"
        wanted, actual = (type(self).preset(name, each) for each in (metric, chosen_for))
        different = {
            field: getattr(wanted, field)
            for field in _NAMES
            if getattr(wanted, field) != getattr(actual, field) == getattr(self, field)
        }
        if parse_metric_name(metric) != parse_metric_name(chosen_for):
            own = wanted.find_own_choices(metric)
            different |= {name: value for name, value in own.items() if f"{name}=" not in metric}
        if not different:
            return ""
        choices = ", ".join(f"{field}={value!r}" for field, value in different.items())
        return (
            f"Convention.preset({name!r}) has the choices for {chosen_for}, but {name} measures "
            f"{metric} under {choices}. Write `convention={name!r}`, which measures each metric as "
            f"that library does, or Convention.preset({name!r}, {metric!r})."
        )

    @staticmethod
    def presets() -> dict[str, str]:
        """Return the name of each preset, and a sentence about it."""
        return {name: str(preset) for name, preset in presets.PRESETS.items()}

    def explain(self) -> str:
        r"""Return the formulas of this convention, in words and in LaTeX.

        Examples
        --------
        >>> print("\n".join(Convention(gain="linear").explain().splitlines()[6:10]))
        Gain of a grade: the grade itself.
            g(t) = t
        Weight of a rank: 1 over the binary logarithm of the rank plus 1.
            D(r) = \frac{1}{\log_2(r + 1)}
        """
        return formulas.format_formulas(self)


#: What is understood as a convention: see `Convention.validate`.
ConventionLike: TypeAlias = Convention | Mapping[str, Any] | str | None
if not TYPE_CHECKING:  # what editors and `help` show
    _choices = [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default)
        for one in fields(Convention)
    ]
    _library = Parameter("library", Parameter.POSITIONAL_OR_KEYWORD, default=None)
    Convention.__signature__ = Signature([_library, *_choices])
_MAX_RANKS = 10_000_000  # whose weights take 80 MB
_NAMES = tuple(field.name for field in fields(Convention))
_DEFAULT_TEXTS = {name: notation.format_choice(getattr(Convention, name)) for name in _NAMES}


def describe_choice(name: str, text: str) -> str:
    """Return the meaning of a choice's text; "" for numbers, functions and mappings."""
    described = formulas.DESCRIPTIONS.get(name, {})
    meaning = {str(value): one for value, one in described.items()}.get(text, "")
    return meaning if isinstance(meaning, str) else str(meaning[0])


def is_shown(name: str, text: str) -> bool:
    """Return whether a signature shows a choice."""
    return name not in Convention.BEYOND_ACCURACY or text != _DEFAULT_TEXTS[name]


def _sort_gains(gains: Mapping[float, float]) -> dict[float, float]:
    """Return the mapping with float keys in ascending order."""
    try:
        sorted_gains = {as_float(grade): as_float(gains[grade]) for grade in sorted(gains)}
    except (OverflowError, TypeError, ValueError):
        msg = (
            f"gain must map grades to gains, both numbers, such as {{0: 0, 1: 1}}, "
            f"not {quote(gains)}."
        )
        raise InvalidInputError(msg) from None
    if not all(map(math.isfinite, [*sorted_gains, *sorted_gains.values()])):
        msg = f"gain must map finite grades to finite gains, not {quote(sorted_gains)}."
        raise InvalidInputError(msg)
    if not sorted_gains:
        msg = "gain is an empty mapping; give every grade a gain, such as {0: 0, 1: 1}."
        raise InvalidInputError(msg)
    return sorted_gains


def _normalise(name: str, value: Any) -> Any:
    """Return a valid value of a choice, numbers as floats; raise for others."""
    if name == "gain" and isinstance(value, Mapping):
        return _sort_gains(value)
    if name in Convention.CHOICES:
        if not (name in _OTHER_VALUES and callable(value)):
            check_choice(name, value, Convention.CHOICES[name], _OTHER_VALUES.get(name, ""))
        return as_float(value) if is_number(value) else value
    word = _WORDS.get(name)
    if name != "tie_tolerance" if value is None else isinstance(value, str) and value == word:
        return value
    if not is_number(value):
        alternative = f" or {word!r}" if word else ""
        msg = f"`{name}` must be a finite number{alternative}, not {quote(value)}."
        raise InvalidInputError(msg)
    number = as_float(value)
    if name == "tie_tolerance" and number < 0:
        msg = f"tie_tolerance must be a step of at least 0, not {number}."
        raise InvalidInputError(msg)
    if name == "patience" and not 0 < number <= 1:
        msg = f"patience must be above 0 and at most 1, not {number}."
        raise InvalidInputError(msg)
    return number
