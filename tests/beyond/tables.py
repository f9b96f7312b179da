"""The tables of docs/concepts/beyond-accuracy.md: the measures, the choices, the libraries.

``python -m tests.beyond.tables`` prints them.
"""

from dataclasses import fields

from recsys_ndcg.convention import PRESETS, Convention, beyond, format_choice
from recsys_ndcg.metrics import METRICS


def measures() -> str:
    """Return a row for each measure, by what it needs to know."""
    rows = ["| measure | what it is | needs |", "|---|---|---|"]
    for name, kind in sorted(METRICS.items()):
        if kind.needs:
            first = str(kind.__doc__).strip().splitlines()[0].rstrip(".")
            needs = ", ".join(f"`{one}=`" for one in sorted(kind.find_sources()))
            column = "(column)" if "column" in {one.name for one in fields(kind)} else ""
            kinds = "" if kind.per_user else " (of all lists)"
            cutoff = "" if kind.cutoff == "none" else "@k"
            rows.append(f"| `{name}{column}{cutoff}` | {first}{kinds} | {needs} |")
    return "\n".join(rows)


def choices() -> str:
    """Return a row for each choice, the default first."""
    rows = ["| option | values |", "|---|---|"]
    for name in Convention.BEYOND_ACCURACY:
        words = beyond.DESCRIPTIONS.get(name)
        if words is None:
            values = ["`None`, or a number"]
        else:
            values = [
                f'`"{value}"`' if isinstance(value, str) else f"`{format_choice(value)}`"
                for value in words
            ]
        rows.append(f"| `{name}` | {', '.join(values)} |")
    return "\n".join(rows)


def libraries() -> str:
    """Return a row for each library with the measures that its preset has."""
    rows = ["| preset | library | measures |", "|---|---|---|"]
    for name, preset in PRESETS.items():
        if preset.beyond:
            names = ", ".join(f"`{one}`" for one in preset.beyond)
            rows.append(f"| `{name}` | {preset.library} | {names} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(measures(), choices(), libraries(), sep="\n\n")
