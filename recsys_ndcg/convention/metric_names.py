"""What people type for a metric, and what it is called here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

#: Filled by the metrics themselves (`recsys_ndcg.metrics.metric.register`), in `plainly` written
#: form: presets must know the names, too, and know no metric.
ALSO_CALLED: dict[str, str] = {}


def plainly(name: str) -> str:
    """Return a name in small letters, without what stands between its words.

    Examples
    --------
    >>> plainly("Hit_Rate")
    'hitrate'
    """
    return name.lower().replace("_", "")


def bare(metric: object) -> str:
    """Return our name of a metric, without its options and its cutoff.

    Examples
    --------
    >>> bare("NDCG@10"), bare("rbp(p=0.9)@5")
    ('ndcg', 'rbp')
    """
    name = _typed(str(metric)).lower().strip()
    return ALSO_CALLED.get(plainly(name), name)


def ours(metric: str) -> str:
    """Return the name of a metric, options and cutoff with it, where people call it otherwise.

    Examples
    --------
    >>> ours("P@10"), ours("ndcg@5")
    ('precision@10', 'ndcg@5')
    """
    typed = _typed(metric)
    return ALSO_CALLED.get(plainly(typed), typed) + metric[len(typed) :]


def _typed(metric: str) -> str:
    return re.split(r"[(@]", metric, maxsplit=1)[0]


def offered(group: str) -> EntryPoints:
    """Return the metrics that installed packages offer, none of them loaded."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - reads mails, and rarely needed

    return entry_points(group=group)
