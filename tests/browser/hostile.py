"""Names that look like code, in every place where a user chooses one."""

from __future__ import annotations

import recsys_ndcg as rn
from tests.registered import restore_metrics

#: Shown as they are.
PLAIN = [
    "</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>',
    "' onfocus=alert(1) autofocus x='", "]]>", "<!--", "{{7*7}}", "${7*7}", "javascript:alert(1)",
    "}</style>", "%", "&lt;b&gt;", "__proto__", "constructor",
    "\U0001f469\u200d\U0001f680 \U0001f600", "\u05d0\u05d1\u05d2 \u0634",
]  # fmt: skip
#: Made visible, or cut.
HIDDEN = [
    "x" * 10_000, "x" * 9_999 + "y", "a b" * 3_000, "\u202egpj.exe", "one\u2028two\u2029three",
    "\x1b[2J\x07\t\n", "\u200b", "same", "same\u200b", "\ufeffsame", "e\u0301" * 200,
]  # fmt: skip
NAMES = [*PLAIN, *HIDDEN]
LONG = "long" * 50  # the name of a metric


def rows(names: list[str], turn: int) -> list[tuple[str, str, float, float]]:
    """Return predictions of users with such names for items with such names."""
    n = len(names)
    return [
        (user, names[(place + step) % n], (step * turn + place) % 7 + step / 100, 1.0 + step)
        for place, user in enumerate(names)
        for step in range(5)
    ]


def comparison() -> rn.Comparison:
    """Return models, users, items and segments with such names."""
    models = {name: rows(NAMES, turn) for turn, name in enumerate(NAMES, 1) if name.strip()}
    segments = {user: NAMES[place // 2] for place, user in enumerate(NAMES)}
    return rn.compare(models, metrics=["ndcg@3", "recall@3"], threshold=4, by=segments)


def pair(one: str, other: str) -> rn.Comparison:
    """Return two models with such names."""
    return rn.compare({one: rows(NAMES, 3), other: rows(NAMES, 1)}, metrics=["ndcg@3", "rmse"])


def report() -> rn.Report:
    """Return a model whose users and items have such names, in metrics of odd names."""
    metrics = ["ndcg@3", "recall@3", "rmse", "constructor@2", f"{LONG}@3"]
    with restore_metrics():
        for name in ("constructor", LONG):
            rn.metric(name=name)(lambda rank: rank**0.0)
        return rn.evaluate(rows(NAMES, 3), metrics=metrics, threshold=4)
