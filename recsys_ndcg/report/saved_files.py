"""Files of ours: JSON that says of which kind and format it is, read with nothing believed."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.files.contents import open_file
from recsys_ndcg.report.parts import Part
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

Loaded = TypeVar("Loaded")
_HEAD = 200  # bytes, by which a file is known


def read_saved(
    path: str | Path,
    kind: str,
    number: int,
    loaded: Callable[[Part, int], Loaded],
    to_do: str | None = None,
) -> Loaded:
    """Return what is made of a saved file.

    Parameters
    ----------
    path : str or Path
        The file.
    kind : str
        What it shall be, ``"report"`` or ``"comparison"``.
    number : int
        Of the format that is read.
    loaded : callable
        Makes something of the whole and of how many bytes it has.
    to_do : str, optional
        What is to be done about a file that was changed; by default, to save it again.

    Raises
    ------
    InvalidInputError
        The file cannot be read, is of another kind or format, or was changed: the part that is
        wrong is named.
    """
    with open_file(path) as file:
        content = file.read()
    try:
        stored = _parsed(content)
        _check_format(stored, kind, number)
        try:
            return loaded(Part(stored), len(content))
        except InvalidInputError as error:
            advice = f"save the {kind} again" if to_do is None else to_do
            msg = f"{error}. The file was changed after it was saved: {advice}".rstrip(": ") + "."
            raise InvalidInputError(msg) from None
    except InvalidInputError as error:
        msg = f"{path}: {error}"
        raise InvalidInputError(msg) from None


def is_saved(path: str | Path, kind: str = "report") -> bool:
    """Tell a saved file of a kind from any other, by its first bytes."""
    try:
        if not Path(path).is_file():  # of a pipe, what is read is gone
            return False
        with Path(path).open("rb") as file:
            return f'"format": "recsys_ndcg {kind} '.encode() in file.read(_HEAD)
    except (OSError, ValueError):  # told when it is read
        return False


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content.decode(), object_pairs_hook=_named_once)
    except UnicodeDecodeError as error:
        msg = f"not JSON (no text in UTF-8 from byte {error.start} on)."
    except RecursionError:
        msg = "not JSON that a saved file has: it is nested too deep."
    except json.JSONDecodeError as error:
        msg = f"not JSON ({error})."
    except InvalidInputError:
        raise
    except ValueError:  # Python reads no whole number of thousands of digits
        msg = "not JSON that a saved file has: it holds a number of more than 4300 digits."
    raise InvalidInputError(msg)


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (name, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        msg = f"{shown(name)} stands in one place twice. Save it again."
        raise InvalidInputError(msg)
    return found


def _check_format(stored: Any, kind: str, number: int) -> None:
    text = stored.get("format") if isinstance(stored, dict) else None
    form = rf"recsys_ndcg {kind} ([0-9]{{1,18}})"
    found = re.fullmatch(form, text) if isinstance(text, str) else None
    if found is None:
        msg = f"not a {kind} that recsys_ndcg saved."
        raise InvalidInputError(msg)
    theirs = int(found[1])
    if theirs == number:
        return
    what, to_do = (
        ("an older", "Evaluate the data again, and save that.")
        if theirs < number
        else ("a newer", "Install it: pip install -U recsys-ndcg.")
    )
    msg = (
        f"a {kind} of format {theirs}, which {what} recsys_ndcg saved; version {__version__} reads "
        f"format {number}. {to_do}"
    )
    raise InvalidInputError(msg)
