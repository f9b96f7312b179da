"""Functions that take the same options, and what a wrong call of a function gets."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sized
from functools import wraps
from textwrap import indent
from typing import Any, TypeVar

from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, format_count, quote, suggest

Function = TypeVar("Function", bound=Callable[..., Any])


def take_options(
    *kinds: type, defaults: type | None = None, advise: Callable[..., str] | None = None
) -> Callable[[Function], Function]:
    """Return a decorator that explains wrong calls, and shows options that are defined elsewhere.

    Parameters
    ----------
    *kinds : TypedDict
        The options that the function's last parameter, such as ``**options``, takes: its signature
        and its docstring get each of them.
    defaults : dataclass, optional
        An option has the default of the field with its name, else None.
    advise : callable, optional
        Returns what to write instead of a wrong call, "" if it does not know; it gets the
        arguments of the call.

    Examples
    --------
    >>> from typing import TypedDict
    >>> class Ink(TypedDict):
    ...     colour: str
    >>> @take_options(Ink)
    ... def draw(shape, **ink): return shape, ink
    >>> inspect.signature(draw)
    <Signature (shape, *, colour: 'str' = None)>
    >>> draw("circle", color="red")
    Traceback (most recent call last):
        ...
    recsys_ndcg.InvalidInputError: draw has no option color=. Did you mean 'colour'?
    """

    def decorate(function: Function) -> Function:
        signature, text = inspect.signature(function), function.__doc__ or ""
        parameters = list(signature.parameters.values())
        rest = parameters.pop() if kinds else None
        fields = getattr(defaults, "__dataclass_fields__", {})
        for name, kind in (item for one in kinds for item in one.__annotations__.items()):
            default = fields[name].default if name in fields else None
            shown = {"default": default, "annotation": getattr(kind, "__forward_arg__", kind)}
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, **shown))
        expected = signature.replace(parameters=parameters)

        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            name = function.__qualname__.removesuffix(".__init__")
            InvalidInputError.raise_if(_name_wrong_option(name, expected, named))
            try:
                expected.bind(*given, **named)
            except TypeError as error:
                msg = advise(*given, **named) if advise else ""
                raise InvalidInputError(msg or _explain(name, expected, given, error)) from None
            return function(*given, **named)

        vars(call)["__signature__"] = expected
        call.__doc__ = _describe_options(text, rest.name, kinds) if rest else text
        return call  # type: ignore[return-value] # it takes the same arguments

    return decorate


def _name_wrong_option(name: str, signature: inspect.Signature, named: Mapping[str, Any]) -> str:
    """Return what to write instead of an option that a function does not have; "" if it has all.

    A function with ``**options`` also accepts the choices of a convention.
    """
    known = {name for name in signature.parameters if name != "self"}
    choices = Convention.field_names()
    if any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values()):
        known |= {*choices, "convention", "threshold"}
    wrong = next((one for one in named if one not in known), "")
    if wrong in choices:
        value = quote(named[wrong])
        return (
            f"{name} has no option {wrong}=, which is a choice of the convention. Write "
            f"convention=rn.Convention({wrong}={'...' if value.startswith('<') else value})."
        )
    return f"{name} has no option {wrong}=. {suggest(wrong, known)}" if wrong else ""


def _explain(name: str, signature: inspect.Signature, given: Sized, error: TypeError) -> str:
    """Return what is wrong in a call: often a name is missing."""
    parameters = signature.parameters.values()
    options = [f"{one.name}=" for one in parameters if one.kind is one.KEYWORD_ONLY]
    unnamed = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    if len(given) <= len(unnamed) or not options:
        return f"{name}: {error}."
    count = format_count(len(unnamed) - ("self" in unnamed), "argument")
    return f"{name} takes {count} without a name. Name the others: {', '.join(options[:5])}."


def _describe_options(text: str, name: str, kinds: Iterable[type]) -> str:
    """Return a docstring with the descriptions of options in place of ``**name``."""
    described = [str(inspect.getdoc(kind)).partition("----------\n")[2] for kind in kinds]
    place = re.compile(rf"^( *)\*\*{name}\b.*\n(?:\1 +.*\n)*", re.MULTILINE)
    return place.sub(lambda found: indent("\n".join([*described, ""]), found[1]), text)
