"""Convention: every choice that can change a number, as one value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import beyond, formulas, gains, notation, presets
from recsys_ndcg.convention.gains import Discount, Gain
from recsys_ndcg.errors import InvalidInputError, as_float, check_choice, is_number, quote, suggest
from recsys_ndcg.lazy import lazy_property

if TYPE_CHECKING:
    from recsys_ndcg.rendering import ShownTable

_OTHER_VALUES = {
    "gain": ", a mapping {grade: gain} or a function",
    "discount": ", or a function",
    "distance": ", or a function",
}
_DESCRIPTIONS = {**formulas.DESCRIPTIONS, **beyond.DESCRIPTIONS}
_WORDS = {"tie_tolerance": "float32", "recommend_from": "threshold"}  # besides numbers
#: The fields that a report's signature adds; `defaults` replaces all choices at their default.
REPORT_FIELDS = [
    *("threshold", "short_below", "own", "value_of"),
    *("train", "catalogue", "features", "base", "groups", "weights"),
    *("protocol", "users", "version", "defaults"),
]


@dataclass(frozen=True, kw_only=True)
class Convention:
    """All choices that can change a number.

    Parameters
    ----------
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
    novelty_model : {'discovery', 'choice'}
        The probability of an item: its share of training users, or of training interactions.
    novelty_as : {'bits', 'share'}
        Novelty in bits, or over the novelty of an item of one user.
    list_over : {'n', 'k', 'one', 'full'}
        A mean over a list is over min(k, n) items, over k, or is a sum. ``"full"`` is ``"k"``, and
        personalization counts the overlap of a list with itself as k items.
    pairs_over : {'pairs', 'k', 'n'}
        The sum of the distances is over the pairs, over k(k-1)/2, or over the items.
    pairs_as : {'distance', 'similarity'}
        Whether pairs are compared by distance, or by 1 - distance.
    single_item : {'undefined', 0.0, 1.0}
        The score of a list without pairs.
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
    coverage_as : {'share', 'count', 'percent'}
        Coverage as a share of all items, a number, or a percentage with two decimals.
    inequality_over : {'n', 'n-1'}
        Whether Gini is over the number of items, or that minus 1, so that it can reach 1.
    gini_as : {'inequality', 'equality'}
        Gini, or 1 - Gini.
    log_base : {2.0, 'e'}
        Entropy in bits or in nats.
    entropy_over : {'recommendations', 'items', 'lists'}
        Entropy of all recommendations, over the number of recommended items, or with the same
        weight for each list (a cross entropy, which may be larger).
    tail : {'reach', 'pass', 'rarest', 'count'}
        The long tail: all but the most popular items that reach, or pass, the share `tail_at` of
        all popularity (0.8); the rarest share `tail_at` of the items (0.1); or the items with at
        most `tail_at` training users (or rows: `popularity_of`).
    serendipity_by : {'ranks', 'history', 'relevant', 'hits'}
        How unexpected an item is: by its rank in popularity (relevant items only), or by its mean
        distance from the user's training items: of all items, of relevant ones (others count 0), or
        1 minus the sum of the relevant items' similarities.
    divergence : {'kl', 'js'}
        How calibration compares list and history: Kullback-Leibler, or Jensen-Shannon.
    population : {'train', 'known'}
        In EPC, the users of whom an item's users are a share: those of training, or all users in
        ``train=`` or ``groups=``.
    seen : {'count', 'raise'}
        A recommended item that the user had in training: counted, or an error.
    topics_over : {'all', 'relevant', 'train'}
        Distinct topics are over all topics of the column, the topics of the user's relevant items,
        or the topics of the training items.
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
    ties: Literal[
        "expected", "input", "best", "worst", "item_asc", "item_desc", "text_asc", "text_desc"
    ] = "expected"
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
    novelty_model: Literal["discovery", "choice"] = "discovery"
    novelty_as: Literal["bits", "share"] = "bits"
    list_over: Literal["n", "k", "one", "full"] = "n"
    pairs_over: Literal["pairs", "k", "n"] = "pairs"
    pairs_as: Literal["distance", "similarity"] = "distance"
    single_item: Literal["undefined"] | float = "undefined"
    distance: (
        Literal["by_column", "hamming", "jaccard", "cosine", "category", "cooccurrence"]
        | Callable[..., Any]
    ) = "by_column"
    universe: Literal["catalogue", "train", "recommended", "padded"] = "catalogue"
    outside: Literal["raise", "count", "ignore"] = "raise"
    coverage_as: Literal["share", "count", "percent"] = "share"
    inequality_over: Literal["n", "n-1"] = "n"
    gini_as: Literal["inequality", "equality"] = "inequality"
    log_base: Literal["e"] | float = 2.0
    entropy_over: Literal["recommendations", "items", "lists"] = "recommendations"
    tail: Literal["reach", "pass", "rarest", "count"] = "reach"
    serendipity_by: Literal["ranks", "history", "relevant", "hits"] = "ranks"
    divergence: Literal["kl", "js"] = "kl"
    population: Literal["train", "known"] = "train"
    seen: Literal["count", "raise"] = "count"
    topics_over: Literal["all", "relevant", "train"] = "all"
    parity_of: Literal["hits", "shown"] = "hits"
    tail_at: float | None = None
    patience: float | None = None

    #: The preset and the metric that it was made from; not a choice, and not part of equality.
    preset_of: ClassVar[tuple[str, str] | None] = None
    #: The words that each field accepts, the default first.
    CHOICES: ClassVar[dict[str, tuple[str | float, ...]]] = {
        name: tuple(words) for name, words in _DESCRIPTIONS.items()
    }
    #: The choices of measures beyond accuracy; other metrics' signatures do not have them.
    BEYOND_ACCURACY: ClassVar[tuple[str, ...]] = (*beyond.DESCRIPTIONS, *beyond.NUMBERS)

    if not TYPE_CHECKING:  # a type checker reads the fields

        def __new__(cls, **options: Any) -> Self:
            """Raise for unknown options, and suggest the nearest name."""
            for name in options:
                if name not in _NAMES:
                    msg = f"Convention has no option {name!r}. {suggest(name, _NAMES)}"
                    raise InvalidInputError(msg)
            return super().__new__(cls)

    def __post_init__(self) -> None:
        """Check and normalise the values of all fields."""
        for name, choices in self.CHOICES.items():
            value = getattr(self, name)
            if name in _OTHER_VALUES and callable(value):
                continue
            if name == "gain" and isinstance(value, Mapping):
                object.__setattr__(self, "gain", _sort_gains(value))
            else:
                check_choice(name, value, choices, _OTHER_VALUES.get(name, ""))
        for name in ("undefined", "single_item", "log_base"):
            value = getattr(self, name)
            if not isinstance(value, str):
                object.__setattr__(self, name, as_float(value))
        for name in ("tie_tolerance", "recommend_from", "max_grade", *beyond.NUMBERS):
            object.__setattr__(self, name, _to_finite(name, getattr(self, name)))
        if not isinstance(self.tie_tolerance, str) and self.tie_tolerance < 0:
            msg = f"tie_tolerance must be a step of at least 0, not {self.tie_tolerance}."
            raise InvalidInputError(msg)
        if self.patience is not None and not 0 < self.patience <= 1:
            msg = f"patience must be above 0 and at most 1, not {self.patience}."
            raise InvalidInputError(msg)
        self._check_tail()
        if self.ideal == "max" and self.max_grade is None and self.gain != "binary":
            msg = "ideal='max' needs the top grade of the scale: pass max_grade=5.0, for instance."
            raise InvalidInputError(msg)

    def _check_tail(self) -> None:
        """Raise if `tail_at` is not a share or a count, or is missing."""
        if self.tail == "count" and self.tail_at is None:
            msg = (
                "tail='count' needs tail_at=, the largest number of training users (or rows) of an "
                "item in the tail, such as tail_at=5."
            )
            raise InvalidInputError(msg)
        highest = np.inf if self.tail == "count" else 1.0
        if self.tail_at is not None and not 0 < self.tail_at < highest:
            kind = (
                "a number of training users (or rows)"
                if self.tail == "count"
                else "a share between 0 and 1"
            )
            msg = f"tail_at must be {kind}, not {self.tail_at}."
            raise InvalidInputError(msg)

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
        changed = replace(self, **changes)
        object.__setattr__(changed, "preset_of", self.preset_of)
        return changed

    def select_choices(self, *names: str) -> tuple[Any, ...]:
        """Return some of the choices as a hashable key.

        Examples
        --------
        >>> Convention(gain={0: 0, 1: 3}).select_choices("gain", "ties")
        (((0.0, 0.0), (1.0, 3.0)), 'expected')
        """
        values = (getattr(self, name) for name in names)
        return tuple(tuple(v.items()) if isinstance(v, Mapping) else v for v in values)

    @lazy_property
    def signature(self) -> str:
        """All choices in a fixed order, ``name:value`` joined by ``|``.

        Choices of measures beyond accuracy are left out if they are defaults.
        """
        texts = self.texts.items()
        return "|".join(f"{name}:{text}" for name, text in texts if _is_shown(name, text))

    @property
    def texts(self) -> dict[str, str]:
        """The text of each choice in a signature, in the order of the signature."""
        return {name: notation.format_choice(getattr(self, name)) for name in _NAMES}

    @staticmethod
    def field_names() -> tuple[str, ...]:
        """Return the names of all choices, in the order of the signature."""
        return _NAMES

    @classmethod
    def format_defaults(cls) -> dict[str, str]:
        """Return the text of each default in a signature."""
        return cls().texts

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
        metric, texts = notation.parse_fields(
            text, required, [*REPORT_FIELDS, *cls.BEYOND_ACCURACY]
        )
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
        _, texts = cls.parse_texts(text)
        return cls(**{name: notation.parse_choice(name, texts[name]) for name in _NAMES})

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
    def ties_ignore_ids_and_rows(self) -> bool:
        """Whether the rule for ties does not depend on the ids or the row order of tied items."""
        return self.ties in ("expected", "best", "worst")

    @classmethod
    def validate(cls, convention: Convention | str | None) -> Convention | str:
        """Return the convention, the default one for None, or the name of a preset.

        Raises
        ------
        InvalidInputError
            It has another type, or no preset has that name.
        """
        if convention is None:
            return cls()
        if isinstance(convention, str):
            cls.preset(convention)
        elif not isinstance(convention, cls):
            msg = (
                f"convention must be a Convention(...), not {quote(convention)}. "
                "For a library's convention, give its name: convention='sklearn', for example."
            )
            raise InvalidInputError(msg)
        return convention

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
        convention = cls(**presets.find_choices(name, metric))
        object.__setattr__(convention, "preset_of", (name, str(metric or "ndcg")))
        return convention

    def find_preset_mismatch(self, metric: str) -> str:
        """Return how the library's choices for a metric differ if the preset is for another one.

        Examples
        --------
        >>> Convention.preset("sklearn").find_preset_mismatch("dcg")
        ''
        """
        if self.preset_of is None or not presets.PRESETS[self.preset_of[0]].has(metric):
            return ""
        name, preset_metric = self.preset_of
        wanted = presets.find_choices(name, metric)
        actual = presets.find_choices(name, preset_metric)
        defaults = type(self)()
        different = {
            field: wanted.get(field, getattr(defaults, field))
            for field in (*wanted, *actual)
            if wanted.get(field) != actual.get(field)
            and getattr(self, field) == actual.get(field, getattr(defaults, field))
        }
        if not different:
            return ""
        choices = ", ".join(f"{field}={value!r}" for field, value in different.items())
        return (
            f"Convention.preset({name!r}) has the choices for {preset_metric}, but {name} measures "
            f"{metric} under {choices}. Write convention={name!r}, which measures each metric as "
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

    @classmethod
    def tabulate_texts(cls, texts: Mapping[str, str], defaults: Mapping[str, str]) -> ShownTable:
        """Return a table of choices for people; those that are not the default are highlighted.

        Parameters
        ----------
        texts : mapping of str
            The text of each choice, or of another field of a signature.
        defaults : mapping of str
            The texts of the defaults; a field without one is never highlighted.
        """
        import pandas as pd  # noqa: PLC0415 - not needed otherwise

        from recsys_ndcg.rendering import ShownTable, shorten  # noqa: PLC0415 - in notebooks only

        changed = [text != defaults.get(name, text) for name, text in texts.items()]
        before = [
            defaults[name] if is_changed else ""
            for name, is_changed in zip(texts, changed, strict=True)
        ]
        cells = {
            "choice": [*texts],
            "value": [*map(shorten, texts.values())],
            "default, if changed": before,
            "meaning": [_describe(name, text) for name, text in texts.items()],
        }
        bold = [place for place, is_changed in enumerate(changed) if is_changed]
        return ShownTable("Choices", pd.DataFrame(cells), bold=bold)

    def _repr_html_(self) -> str:
        from recsys_ndcg.rendering import (  # noqa: PLC0415 - in notebooks only
            Document,
            Section,
            pluralise,
        )

        texts, defaults = self.texts, self.format_defaults()
        n_changed = sum(text != defaults[name] for name, text in texts.items())
        made_from = (
            "made from the preset {} for {}, ".format(*self.preset_of) if self.preset_of else ""
        )
        facts = f"Convention: {made_from}{pluralise(n_changed, 'choice')} changed from the defaults"
        shown = {name: text for name, text in texts.items() if _is_shown(name, text)}
        rest = {name: text for name, text in texts.items() if name not in shown}
        title = "Choices of measures beyond accuracy, at their defaults"
        others = Section.folded(title, [self.tabulate_texts(rest, defaults)])
        table = self.tabulate_texts(shown, defaults)
        return Document(facts, [Section("choices", "Choices", "", [table, others])]).render("html")


_MAX_RANKS = 10_000_000  # whose weights take 80 MB
_NAMES = tuple(field.name for field in fields(Convention))


def _is_shown(name: str, text: str) -> bool:
    """Return whether a signature shows a choice."""
    return name not in Convention.BEYOND_ACCURACY or text != notation.format_choice(
        getattr(Convention, name)
    )


def _describe(name: str, text: str) -> str:
    """Return the meaning of a choice's text; "" for numbers, functions and mappings."""
    described = _DESCRIPTIONS.get(name, {})
    meaning = {str(value): one for value, one in described.items()}.get(text, "")
    return meaning if isinstance(meaning, str) else str(meaning[0])


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


def _to_finite(name: str, value: float | str | None) -> float | str | None:
    word = _WORDS.get(name)
    if (value is None and name != "tie_tolerance") or (isinstance(value, str) and value == word):
        return value
    if value is None or not is_number(value):
        alternative = f" or {word!r}" if word else ""
        msg = f"{name} must be a finite number{alternative}, not {quote(value)}."
        raise InvalidInputError(msg)
    return as_float(value)
