"""The Python code that makes a report or a comparison again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from recsys_ndcg.background import SOURCES
from recsys_ndcg.errors import RecsysNdcgError
from recsys_ndcg.metrics import parse_metrics
from recsys_ndcg.scoring import Signature, write_arguments

if TYPE_CHECKING:
    from recsys_ndcg.report.data import ReportData

_YOURS = "# a file, or a table: put yours here"


def write_call_arguments(signatures: Iterable[Signature]) -> list[str]:
    """Return the arguments of the calls that measure these metrics, one per convention.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> linear = rn.Convention(gain="linear")
    >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)]}, convention=linear, metrics="ndcg@5")
    >>> write_call_arguments(report.signatures.values())
    ["metrics=['ndcg@5'], convention=rn.Convention(gain='linear')"]
    """
    by_options: dict[str, list[Signature]] = {}
    for signature in signatures:
        by_options.setdefault(write_arguments(signature), []).append(signature)
    calls = []
    for options, group in by_options.items():
        names = [one.metric for one in group]
        given = "".join(f", {name}={name}" for name in _list_sources(group))
        # without k=None, names without a cutoff would get the default one
        k_argument = "" if all("@" in name for name in names) else ", k=None"
        calls.append(f"metrics={names!r}{k_argument}{options}{given}")
    return calls


def _list_sources(signatures: Iterable[Signature]) -> list[str]:
    """Return the arguments that some metric needs besides the lists, such as ``"train"``."""
    needed: set[str] = set()
    for one in signatures:
        with suppress(RecsysNdcgError):  # a metric or a choice of the user's own is not known
            (metric,) = parse_metrics(one.metric)
            needed |= metric.find_sources(one.convention)
    return sorted(needed & SOURCES.keys())


def write_evaluation_code(data: ReportData) -> str:
    """Return Python code that gives the same numbers: one call per convention."""
    inputs, signatures = data.inputs, data.audit.signatures.values()
    if "report" in inputs:
        return write_code("report", [inputs["report"]])
    calls = [write_evaluation("data", inputs, one) for one in write_call_arguments(signatures)]
    return write_code("report", calls, write_inputs(["data"], inputs, signatures))


def write_evaluation(data: str, inputs: Mapping[str, str], arguments: str) -> str:
    """Return the call that evaluates some data, or that loads the saved report."""
    columns = f"columns={inputs['columns']}, " if "columns" in inputs else ""
    return inputs.get("report", f"rn.evaluate({data}, {columns}{arguments})")


def write_code(name: str, calls: Iterable[str], before: Iterable[str] = ()) -> str:
    """Return lines of Python, and a variable for each call; further ones have a number.

    Examples
    --------
    >>> print(write_code("report", ["rn.evaluate(data)", "rn.evaluate(data, k=5)"], ["data = 1"]))
    import recsys_ndcg as rn
    <BLANKLINE>
    data = 1
    report = rn.evaluate(data)
    report_2 = rn.evaluate(data, k=5)
    """
    results = [f"{name}{f'_{n}' if n > 1 else ''} = {one}" for n, one in enumerate(calls, 1)]
    return "\n".join(["import recsys_ndcg as rn", "", *before, *results])


def write_inputs(
    names: Iterable[str], inputs: Mapping[str, str], signatures: Iterable[Signature] = ()
) -> list[str]:
    """Return a line of Python for each input; of what was in memory, the file is not known.

    `signatures`: of the metrics, which may need further inputs.

    Examples
    --------
    >>> write_inputs(["data", "train"], {"train": "'train.csv'"})
    ["data = 'predictions.csv'  # a file, or a table: put yours here", "train = 'train.csv'"]
    """
    lines = []
    for name in dict.fromkeys([*names, *_list_sources(signatures)]):
        guess = f"'{'predictions' if name == 'data' else name}.csv'  {_YOURS}"
        lines.append(f"{name} = {inputs.get(name, guess)}")
    return lines
