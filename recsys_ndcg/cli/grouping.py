"""Options that several commands share, as dataclasses in place of long lists of parameters."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable


def flattened(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters that are dataclasses became their fields.

    Typer reads one option from each parameter; the command still gets the dataclasses.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 3
    >>> @flattened
    ... def draw(size: Size, sign: str = "x") -> None:
    ...     print(size.width * sign)
    >>> draw(width=2, sign="o")
    oo
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for name, given in signature(command).parameters.items():
        if name in groups:
            kinds = get_type_hints(groups[name], include_extras=True)
            parameters += [_parameter(one, kinds[one.name]) for one in fields(groups[name])]
        else:
            parameters.append(given.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def called(**values: Any) -> None:
        made = {
            name: kind(**{one.name: values.pop(one.name) for one in fields(kind)})
            for name, kind in groups.items()
        }
        command(**made, **values)

    vars(called)["__signature__"] = Signature(parameters)
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _parameter(one: Field[Any], kind: Any) -> Parameter:
    default = Parameter.empty if one.default is MISSING else one.default
    return Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
