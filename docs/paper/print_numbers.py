"""Print every number of paper.md, in the words around it: ``python docs/paper/print_numbers.py``.

Numbers are computed by the package, or read from blocks of README.md and docs/ that a benchmark or
an example has printed. tests/test_paper.py finds each phrase in the paper, and no other number.
"""

import re
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

import recsys_ndcg as rn  # noqa: E402 - after the path
from recsys_ndcg.datasets import sample_ratings  # noqa: E402
from recsys_ndcg.metrics import METRICS  # noqa: E402
from tests.pages import block, page_of, read_search, text_of  # noqa: E402

Phrases = dict[str, str]


def read_one(form: str, text: str) -> Any:
    """Return the one match of a form: its group, or a tuple of its groups."""
    (one,) = re.findall(form, text, re.MULTILINE)
    return one


def read_rows(table: str) -> list[list[str]]:
    """Return the cells of the rows of a Markdown table, without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def count_metrics() -> Phrases:
    """Count what is registered."""
    return {"metrics": f"over {len(METRICS) // 50 * 50} metrics"}


def evaluate_sample() -> Phrases:
    """Evaluate the predictions of examples/presets.py under all presets, and against chance."""
    example = runpy.run_path(str(ROOT / "examples" / "presets.py"), run_name="an example")
    predictions = example["predictions"](sample_ratings())
    table = rn.reconcile(predictions, example["METRICS"], threshold=4)
    computed = table[table["note"] == ""]
    values = computed.groupby("metric")["value"]
    low, high = values.min(), values.max()
    distinct = values.agg(lambda column: column.round(4).nunique())
    report = rn.evaluate(predictions, metrics="ndcg@10", threshold=4)
    chance, short = report.summary.loc["ndcg@10"], report.audit.loc["ndcg@10", "short"]

    def span(metric: str) -> str:
        return f"{low[metric]:.2f} to {high[metric]:.2f}"

    precision, ndcg = "precision@10", "ndcg@10"
    return {
        "conventions": f"{computed['preset'].nunique()} conventions",
        "users": f"{predictions['user'].nunique()} simulated users",
        "short lists": f"{100 * short:.0f} % of these users have fewer than ten test items",
        "precision": f"{distinct[precision]} different values of precision@10, "
        f"from {span(precision)}",
        "ndcg": f"{distinct[ndcg]} of NDCG@10, from {span(ndcg)}",
        "chance": f"mean NDCG@10 of {chance['mean']:.2f}, and random order {chance['chance']:.2f}",
        "adjusted": f"{100 * chance['adjusted']:.0f} % of the possible improvement",
    }


def read_real_data() -> Phrases:
    """Read what two examples print with MovieTweetings-100K."""
    text = " ".join(text_of(page_of("libraries")).split())
    low, high = read_one(r"precision@10 from (\d\.\d+) to (\d\.\d+) and NDCG@10 from", text)
    by_rmse, by_ndcg, popular = read_search()
    models, tier = read_one(r"Of (\d+) models, they are in tiers 1 and (\d+)", block("rmse"))
    return {
        "real precision": f"from {float(low):.2f} to {float(high):.2f}",
        "grid": f"a grid of {models} matrix factorisation models",
        "by rmse": f"has an NDCG@10 of {by_rmse}",
        "by ndcg": f"the best has {by_ndcg}",
        "popular": f"the list of the most popular items {popular}",
        "tier": f"{int(tier) - 1} of the models are significantly better",
    }


def count_libraries() -> Phrases:
    """Count the libraries that are reproduced, by how closely."""
    kinds: dict[str, set[str]] = {}
    for _, *cells, remarks in read_rows(block("parity")):
        library = re.split("[;,]", remarks)[0]
        if not library.startswith("examples/"):
            kinds.setdefault(library, set()).update(cells)
    by_user = [one for one, found in kinds.items() if "user" in found]
    by_mean = [one for one, found in kinds.items() if "mean" in found and "user" not in found]
    return {
        "by user": f"{len(by_user)} libraries user by user",
        "by mean": f"{len(by_mean)} more by their means",
    }


def sample_items() -> Phrases:
    """Compute what ranking among sampled items does to a score."""
    rank, items, negatives = 150, 3706, 99
    ranks = {"rank": [rank], "candidates": items}
    found = rn.what_sampling_would_say(ranks, negatives=negatives).loc["hit@10"]
    return {
        "sampling": f"at rank {rank} of {items:,} has a hit rate@10 of {found['full']:.0f}; "
        f"ranked among {negatives} sampled items, it has {found['sampled']:.2f}",
    }


def read_error_rates() -> Phrases:
    """Read how often tests find a difference between equal means."""
    sections = dict(part.split("\n", 1) for part in block("error rates").split("\n### ")[1:])

    def rate(title: str, scores: str, procedure: str, heading: str) -> str:
        (name,) = [one for one in sections if one.startswith(title)]
        heads = next(line for line in sections[name].splitlines() if line.startswith("|"))
        column = [cell.strip() for cell in heads.strip("|").split("|")].index(heading)
        rows = {(row[0], row[1]): row for row in read_rows(sections[name])}
        return rows[scores, procedure][column].split()[0]

    two, pairs = "Two equal means differ", "Any of 15 pairs of equal means"
    rated, catalogue = "rated: ndcg@10", "catalogue: ndcg@10"
    t, wilcoxon, sign = (rate(two, rated, one, "n = 200") for one in ("t", "wilcoxon", "sign"))
    few = rate(pairs, catalogue, "t, max-T", "n = 50")
    rough, skewed = "p and interval of a pair", "fewer than 30 users who differ, or skewness"
    of_30, of_100 = (rate(rough, catalogue, skewed, one) for one in ("n = 30", "n = 100"))
    return {
        "wrong tests": f"in {t} % of samples of 200 users, the Wilcoxon test in {wilcoxon} % "
        f"and the sign test in {sign} %",
        "promise": f"finds a difference in {few} % of samples of 50 users, where 5 % are promised",
        "rough": f"{of_30} % of the pairs of models in samples of 30 users rough, and {of_100} % "
        "in samples of 100",
    }


def read_speed() -> Phrases:
    """Read the run at a million rows beside other libraries."""
    tables = block("peers").split("\n\n")
    (table,) = [one for one in tables if one.startswith("1,000,000 rows, ")]
    lines = [re.split(r" {2,}", line) for line in table.splitlines()[2:]]
    (ours,) = [line for line in lines if line[0].startswith("recsys_ndcg ")]
    ratios = {line[0]: float(line[3]) for line in lines if len(line) > 7}
    libraries = {one: ratio for one, ratio in ratios.items() if " by hand" not in one}
    by_hand = next(ratio for one, ratio in ratios.items() if one.startswith("polars by hand"))
    return {
        "seconds": f"A million rows take {ours[1]} seconds",
        "ratios": f"the {len(libraries)} libraries in the same benchmark take "
        f"{min(libraries.values()):.1f} to {max(libraries.values()):.0f} times as long",
        "by hand": f"takes {by_hand:.2f} times as long as the package",
    }


def read_mutants() -> Phrases:
    """Add up the table of the mutants of all rooms."""
    parts = text_of(page_of("mutation")).split("\n\n")
    (table,) = [part for part in parts if part.startswith("| room |")]
    rows = [[int(cell) for cell in row[1:3]] for row in read_rows(table)]
    made, survived = (sum(column) for column in zip(*rows, strict=True))
    return {
        "mutants": f"Of {made:,} changes of behaviour",
        "killed": f"the tests detected {100 * (made - survived) / made:.1f} %",
    }


def collect_phrases() -> Phrases:
    """Return every phrase of the paper that has a number, by a name."""
    with warnings.catch_warnings():
        # about short lists and ties, which are what libraries treat differently
        warnings.simplefilter("ignore", category=rn.DataWarning)
        return {
            **count_metrics(), **evaluate_sample(), **read_real_data(), **count_libraries(),
            **sample_items(), **read_error_rates(), **read_speed(), **read_mutants(),
        }  # fmt: skip


def main() -> None:
    """Print them."""
    for name, phrase in collect_phrases().items():
        print(f"{name}: {phrase}")


if __name__ == "__main__":
    main()
