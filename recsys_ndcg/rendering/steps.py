"""How far the steps of a job are, and how long they will take."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

_MOST = 6  # lines


@dataclass(frozen=True)
class Line:
    """A step as it is shown.

    Parameters
    ----------
    what : str
        What is done.
    share : float, optional
        How much of it, from 0 to 1; None where that is not known.
    times : str
        How long it has taken, and how long it may still take.
    """

    what: str
    share: float | None
    times: str


@dataclass(frozen=True)
class _Step:
    began: float
    changed: float
    share: float


class Steps:
    """The steps that were named so far; any thread may set them while another one reads."""

    def __init__(self) -> None:
        self._steps: dict[str, _Step] = {}

    def set(self, what: str, share: float) -> None:
        """Note how much is done, from 0 to 1, of a step; below 0 where that is not known."""
        now, before = monotonic(), self._steps.get(what)
        share = min(share, 1.0)
        if before is None:
            self._steps[what] = _Step(now, now, share)
        elif before.share != share:
            self._steps[what] = _Step(before.began, now, share)

    def lines(self, now: float) -> list[Line]:
        """Return what is shown now: what is under way, or the last step, if all are done."""
        steps = dict(self._steps)
        under_way = [(what, step) for what, step in steps.items() if step.share < 1]
        return [_line(*one, now) for one in (under_way or [*steps.items()][-1:])[-_MOST:]]


def _line(what: str, step: _Step, now: float) -> Line:
    known = step.share >= 0
    until = now if step.share < 1 else step.changed
    times = clock(until - step.began)
    if 0 < step.share < 1:
        # at the pace of what is done; from then on it is counted down
        end = step.began + (step.changed - step.began) / step.share
        times += f", {clock(max(end - now, 0))} left"
    return Line(what, step.share if known else None, times)


def clock(seconds: float) -> str:
    """Write seconds as people read them.

    Examples
    --------
    >>> clock(7.4), clock(3671)
    ('0:07', '1:01:11')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
