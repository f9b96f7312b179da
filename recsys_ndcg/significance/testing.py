"""The tests and corrections of paired differences, and the options of a test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, TypedDict

from recsys_ndcg.errors import InvalidInputError, check_choice, check_integer, check_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from recsys_ndcg.arrays import Floats

MOST_DRAWS = 10_000_000
FAMILIES = ("pairs", "baseline", "metrics")


@dataclass(frozen=True)
class KindOfTest:
    """One test of paired differences.

    Parameters
    ----------
    in_words : str
        The name in verdicts.
    is_test_of_mean : bool
        Whether it tests the mean difference, so that it has intervals and max-T of its own. Tests
        of ranks or signs do not: their intervals are of the t test.
    is_resampling : bool
        Whether it draws signs or users.
    draws : int
        The number of draws by default: of signs or users, or of the largest t, which takes less
        time.
    """

    in_words: str
    is_test_of_mean: bool = True
    is_resampling: bool = False
    draws: int = 10_000


#: By their names.
TESTS = {
    "t": KindOfTest("paired t test", draws=100_000),
    "randomisation": KindOfTest("paired randomisation test", is_resampling=True),
    "bootstrap": KindOfTest("paired bootstrap test", is_resampling=True),
    "wilcoxon": KindOfTest("Wilcoxon signed-rank test", is_test_of_mean=False),
    "sign": KindOfTest("sign test", is_test_of_mean=False),
}


def bonferroni(p: Floats) -> Floats:
    """Return p-values times their number.

    References
    ----------
    Dunn (1961), doi:10.1080/01621459.1961.10482090

    Examples
    --------
    >>> import numpy as np
    >>> bonferroni(np.array([0.25, 0.75]))
    array([0.5, 1. ])
    """
    return (p * len(p)).clip(max=1.0)


def holm(p: Floats) -> Floats:
    """Return each p-value times the number of p-values at least as large, made monotone.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6(2)

    Examples
    --------
    >>> import numpy as np
    >>> holm(np.array([0.5, 0.125, 0.25]))
    array([0.5  , 0.375, 0.5  ])
    """
    order = p.argsort(kind="stable")
    corrected = p.copy()
    corrected[order] = [*accumulate(p[order] * range(len(p), 0, -1), max)]
    return corrected.clip(max=1.0)


def benjamini_hochberg(p: Floats) -> Floats:
    """Return the false discovery rates at which each hypothesis would be rejected.

    References
    ----------
    Benjamini & Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x

    Examples
    --------
    >>> import numpy as np
    >>> benjamini_hochberg(np.array([0.5, 0.125, 0.25]))
    array([0.5  , 0.375, 0.375])
    """
    from scipy.stats import false_discovery_control  # noqa: PLC0415 - scipy is slow to import

    rates: Floats = false_discovery_control(p)
    return rates


@dataclass(frozen=True)
class Correction:
    """One correction of p-values for testing many pairs.

    Parameters
    ----------
    in_words : str
        The name in verdicts.
    function : callable, optional
        Corrects the p-values of a family; None for max-T, which needs more than p-values.
    divided_for : tuple of str
        The values for which the level is divided by the number of pairs: the ``"smallest p"`` of
        all; ``"intervals"``, which then hold for all pairs at once; the ``"detectable"``
        difference. A stepwise correction finds at least what Bonferroni's finds.
    """

    in_words: str
    function: Callable[[Floats], Floats] | None
    divided_for: tuple[str, ...] = ()

    @property
    def is_simultaneous(self) -> bool:
        """Whether intervals hold for all pairs at once, and agree with the corrected p."""
        return "intervals" in self.divided_for or self.is_max_t

    @property
    def is_max_t(self) -> bool:
        """Whether it is max-T, which is computed with the test and not from its p-values."""
        return self.function is None

    def correct(self, p: Floats) -> Floats:
        """Return corrected p-values. A NaN stays NaN, and is not counted as a test.

        Examples
        --------
        >>> import numpy as np
        >>> CORRECTIONS["bonferroni"].correct(np.array([0.25, np.nan, 0.75]))
        array([0.5, nan, 1. ])
        """
        import numpy as np  # noqa: PLC0415 - the command line names corrections without it

        assert self.function is not None  # noqa: S101 - the tests that draw compute max-T
        tested, corrected = ~np.isnan(p), p.copy()
        if tested.any():
            corrected[tested] = self.function(p[tested])
        return corrected


#: By their names.
CORRECTIONS = {
    "max-T": Correction("max-T", None),
    "holm": Correction("Holm", holm, ("smallest p", "detectable")),
    "bonferroni": Correction("Bonferroni", bonferroni, ("smallest p", "intervals", "detectable")),
    "bh": Correction("Benjamini–Hochberg", benjamini_hochberg, ("detectable",)),
    "none": Correction("uncorrected", lambda p: p.copy()),
}


class SignificanceOptions(TypedDict, total=False):
    """How pairs of models are tested.

    Parameters
    ----------
    test : {'t', 'randomisation', 'bootstrap', 'wilcoxon', 'sign'}
        The test of the users' differences: Student's paired t; random signs (Fisher 1935);
        resampled users, shifted to a difference of 0 (Efron & Tibshirani 1993, chapter 16);
        Wilcoxon's signed ranks (1945); wins against losses.
    correction : {'max-T', 'holm', 'bonferroni', 'bh', 'none'}, optional
        Correction for the number of tests in a family; by default max-T, or Holm for Wilcoxon and
        sign tests. The single-step max-T accounts for the dependence between pairs (Westfall &
        Young 1993; for t: Hothorn, Bretz & Westfall 2008); it, Holm (1979) and Bonferroni bound
        the chance of any false finding, Benjamini & Hochberg (1995) the share of false ones among
        the findings.
    family : {'pairs', 'baseline', 'metrics'}
        The differences that are corrected for each other: all pairs of models in a metric; each
        model against the baseline, so that other pairs are not tested (as Dunnett 1955,
        doi:10.1080/01621459.1955.10501294, but without equal variances); or all pairs in all
        metrics. Chance is always a family apart.
    alpha : float
        Significance level, at least 1e-12 away from 0 and 1; intervals have level 1 - alpha.
    draws : int, optional
        Number of random signs or resamples, by default 10,000; or of draws of the largest t for
        max-T of the t test, by default 100,000 (of hundreds of pairs whose users differ, there are
        fewer, at least 10,000). No p of these is below 1 / (draws + 1). If the users are so few
        that there are no more than this many signs in all, each is taken once.
    seed : int
        Seed of the draws, at least 0. Each user has the same draws for all models, whatever their
        order.
    """

    test: str
    correction: str | None
    family: str
    alpha: float
    draws: int | None
    seed: int


@dataclass(frozen=True)
class Testing:
    """How pairs of models are tested.

    Parameters
    ----------
    test, correction, alpha, draws, seed, family
        As in `SignificanceOptions`.

    Raises
    ------
    InvalidInputError
        An option has another value, or a test of ranks or signs is to have max-T.

    Examples
    --------
    >>> Testing("randomisation", alpha=0.01).correction
    'max-T'
    """

    __test__: ClassVar[bool] = False  # pytest must not collect it

    test: str = "t"
    correction: str | None = None
    alpha: float = 0.05
    draws: int | None = None
    seed: int = 0
    family: str = "pairs"

    def __post_init__(self) -> None:
        """Check the options, and choose the default correction and draws if none are given."""
        check_choice("test", self.test, TESTS)
        if self.draws is None:
            object.__setattr__(self, "draws", self.test_kind.draws)
        if self.correction is None:
            default = "max-T" if self.test_kind.is_test_of_mean else "holm"
            object.__setattr__(self, "correction", default)
        check_choice("correction", self.correction, CORRECTIONS)
        if not self.test_kind.is_test_of_mean and self.corrected_by.is_max_t:
            others = ", ".join(repr(name) for name, one in CORRECTIONS.items() if one.function)
            msg = f"`test={self.test!r}` has no correction {self.correction!r}; it has {others}."
            raise InvalidInputError(msg)
        check_level("alpha", self.alpha, such_as=0.05)
        check_integer("draws", self.draws, 1, MOST_DRAWS)
        check_integer("seed", self.seed, 0)
        check_choice("family", self.family, FAMILIES)

    @property
    def test_kind(self) -> KindOfTest:
        """The properties of the test."""
        return TESTS[self.test]

    @property
    def n_draws(self) -> int:
        """The number of draws."""
        return int(self.draws or 0)

    @property
    def corrected_by(self) -> Correction:
        """The properties of the correction."""
        return CORRECTIONS[str(self.correction)]

    def check_pairs(self, n_pairs: int) -> None:
        """Raise if there are too few draws to find any difference between the pairs.

        Raises
        ------
        InvalidInputError
            There are; the message has the number that is enough.
        """
        drawn = self.test_kind.is_resampling or (self.corrected_by.is_max_t and n_pairs > 1)
        family = n_pairs if "smallest p" in self.corrected_by.divided_for else 1
        if drawn and family > self.alpha * (self.n_draws + 1):
            needed = math.ceil(family / self.alpha) - 1
            helps = family > 1 and self.alpha * (self.n_draws + 1) >= 1
            other = ", or `correction='max-T'`" if helps else ""
            msg = (
                f"`draws={self.n_draws}` is too few: no corrected p can reach {self.alpha:g} "
                f"(number of pairs: {n_pairs}). Use `draws={needed}` or more{other}."
            )
            raise InvalidInputError(msg)
