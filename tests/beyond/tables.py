"""The table of docs/concepts/beyond-accuracy.md: libraries with the measures of their presets.

``python -m tests.beyond.tables`` prints it.
"""

from recsys_ndcg.convention import PRESETS


def libraries() -> str:
    """Return a row for each library with the measures that its preset has."""
    rows = ["| preset | library | measures |", "|---|---|---|"]
    for name, preset in PRESETS.items():
        if preset.beyond:
            names = ", ".join(f"`{one}`" for one in preset.beyond)
            rows.append(f"| `{name}` | {preset.library} | {names} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(libraries())
