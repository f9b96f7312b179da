"""Print, as Markdown, how far each preset is held against its library, by metric.

``python -m tests.peers.table``, from the golden files and the presets themselves.
"""

from __future__ import annotations

import json
from pathlib import Path

from recsys_ndcg.convention import PRESETS

GOLDEN = Path(__file__).parent / "golden"
METRICS = ["ndcg", "dcg", "precision", "recall", "f1", "ap", "rr", "hit", "rprecision"]
KINDS = {"per_user": "user", "mean": "mean"}
#: held in test_reference_program (the four decimals it prints), test_presets and test_seeds
WITHOUT_LIBRARY = {
    "trec_eval": "user", "elliot": "formula", "surprise_faq": "formula",
    "surprise_walkthrough": "formula", "real_life_ndcg": "formula", "evaluation_for_ir": "formula",
}  # fmt: skip


def kinds() -> dict[tuple[str, str], str]:
    """Return what was compared, by preset and metric."""
    found = {}
    for path in GOLDEN.glob("*.json"):
        for key, answer in json.loads(path.read_text())["answers"].items():
            preset, _, metric = key.split()
            for form, kind in KINDS.items():
                if answer.get(form):
                    found[preset, metric.partition("@")[0]] = kind
    return found


def table() -> str:
    """Return the table."""
    compared = kinds()

    def cell(preset: str, metric: str) -> str:
        one = PRESETS[preset]
        if metric in one.not_reproduced:
            return "no"
        if not one.has(metric):
            return ""
        return WITHOUT_LIBRARY.get(preset) or compared[preset, metric]

    lines = [f"| preset | {' | '.join(METRICS)} | library; remarks |"]
    lines.append("|" + "---|" * (len(METRICS) + 2))
    for name, one in PRESETS.items():
        if not one.metrics:  # only measures beyond accuracy
            continue
        text = "; ".join(
            filter(None, [one.library, one.remarks, *map(one.format_note, one.not_reproduced)])
        )
        cells = " | ".join(cell(name, metric) for metric in METRICS)
        lines.append(f"| `{name}` | {cells} | {text} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
