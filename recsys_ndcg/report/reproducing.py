"""What has to be typed for the same numbers: read from their signatures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.scoring import Signature


def options(signatures: Iterable[Signature]) -> list[str]:
    """Return the arguments of each call that measures these metrics: one where that will do.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> linear = rn.Convention(gain="linear")
    >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)]}, convention=linear, metrics="ndcg@5")
    >>> options(report.signatures.values())
    ["metrics=['ndcg@5'], convention=rn.Convention(gain='linear')"]
    """
    alike: dict[str, list[str]] = {}
    for one in signatures:
        alike.setdefault(how_typed(one), []).append(one.metric)
    return [f"metrics={names!r}{_uncut(names)}{how}" for how, names in alike.items()]


def _uncut(names: list[str]) -> str:
    """Return what keeps names without a cutoff from taking the usual one."""
    return "" if all("@" in name for name in names) else ", k=None"


def how_typed(signature: Signature) -> str:
    """Return the threshold and the choices that are not the usual ones."""
    threshold = signature.fields["threshold"]
    told = "" if threshold is None else f", threshold={threshold!r}"
    changed = _changed(signature)
    choices = ", ".join(f"{name}={value}" for name, value in changed.items())
    return f"{told}, convention=rn.Convention({choices})" if changed else told


def _changed(signature: Signature) -> dict[str, str]:
    usual, texts = Convention.default_texts(), Convention.texts_of(signature.text)[1]
    try:
        values: dict[str, Any] = vars(signature.convention)
    except InvalidInputError:  # a function of somebody's own
        values = {name: value for name, value in signature.fields.items() if name in usual}
    return {
        name: _written(values[name])
        for name, text in usual.items()
        if name in texts and texts[name] != text
    }


def _written(value: Any) -> str:
    if isinstance(value, str) and value.startswith("callable("):
        name = value.removeprefix("callable(").rpartition("#")[0]
        return name if name.isidentifier() else "..."
    return repr(dict(value) if isinstance(value, Mapping) else value)


def evaluation_code(signatures: Iterable[Signature]) -> str:
    """Return the lines of Python that measure the same of the same data."""
    calls = [f"report = rn.evaluate(data, {one})" for one in options(signatures)]
    return "\n".join(["import recsys_ndcg as rn", "", *calls])
