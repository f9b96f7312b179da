"""Measure the time, memory and disk that files larger than memory need, by size and form.

    python benchmarks/scale.py [--rows 1000000 10000000 100000000] [--limit 2GB] [--quick]

DuckDB writes random rows into files. Each run is a separate process; the operating system measures
its peak memory. The files have about 17 bytes per row in Parquet, 22 in CSV, and are deleted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from polling import poll

THRESHOLD = 4
ROWS = [1_000_000, 10_000_000, 100_000_000]
ITEMS = 1_000_003
BILLION = 1_000_000_000
FORMS: dict[str, dict[str, Any]] = {
    "Parquet": {},
    "Parquet, text ids": {"text": True},
    "Parquet, a heavy user": {"heavy": True},
    "CSV": {},
}
#: Above this number of rows, a user with 30 % of them does not fit in memory.
TOO_HEAVY = 20_000_000
#: Run in its own process; the arguments are the path, the limit or None, and the threshold.
RUN = """
import json, re, sys, time, warnings
import recsys_ndcg as rn
warnings.simplefilter("ignore", rn.DataWarning)
data, limit, threshold = json.loads(sys.argv[1])
before = time.perf_counter()
report = rn.evaluate(data, threshold=threshold, memory_limit=limit)
summary = report.summary
took = time.perf_counter() - before
peak = int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) * 1024
print(json.dumps([took, peak, summary["mean"].tolist(), summary["chance"].tolist()]))
"""


def draw_file(rows: int, path: Path, *, text: bool = False, heavy: bool = False) -> None:
    """Write rows of users with about a hundred items each, in random order of the users.

    No user has an item twice: each pass over all items has its own users. Text ids start with
    letters; a heavy user has 30 % of all rows.
    """
    import duckdb  # noqa: PLC0415 - only in the process that draws

    users, passes = max(rows // 100, 1), rows // ITEMS + 1
    user = f"CAST(floor({users} * (range // {ITEMS} + random()) / {passes}) AS BIGINT)"
    item = f"range % {ITEMS}"
    if heavy:
        user, item = f"CASE WHEN range % 10 < 3 THEN {users} ELSE {user} END", "range"
    if text:
        user, item = f"'user ' || {user}", f"'item ' || {item}"
    columns = (
        f'{user} AS "user", {item} AS item, round(random() * 5, 4) AS estimated, '
        'CAST(1 + floor(random() * 5) AS INTEGER) AS "true"'
    )
    form = "parquet" if path.suffix == ".parquet" else "csv, HEADER"
    with duckdb.connect() as database:
        database.execute("SET preserve_insertion_order = false; SELECT setseed(0.5)")
        query = f"SELECT {columns} FROM range({rows})"  # noqa: S608 - numbers and names of ours
        database.execute(f"COPY ({query}) TO '{path}' (FORMAT {form})")


def run(data: Any, limit: str | None, folder: Path) -> tuple[float, int, int, list[Any]]:
    """Return the seconds, the peak memory of the process, the peak disk space, and the scores."""
    folder.mkdir()
    sizes = [0]

    def look() -> None:
        sizes.append(sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()))

    command = [sys.executable, "-c", RUN, json.dumps([str(data), limit, THRESHOLD])]
    with poll(look, 0.1):
        done = subprocess.run(  # noqa: S603 - our own
            command, capture_output=True, text=True, check=True, env={"TMPDIR": str(folder)}
        )
    folder.rmdir()  # raises if a file is left
    took, peak, *scores = json.loads(done.stdout)
    return took, peak, max(sizes), scores


def main() -> None:
    """Draw files, evaluate them, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--limit", default="2GB")
    parser.add_argument(
        "--memory-up-to", type=int, default=10_000_000, help="most rows that also run in memory"
    )
    parser.add_argument("--forms", nargs="+", default=list(FORMS), choices=FORMS)
    parser.add_argument("--quick", action="store_true", help="1,000,000 rows within 600 MB")
    chosen = parser.parse_args()
    sizes, limit = ([1_000_000], "600MB") if chosen.quick else (chosen.rows, chosen.limit)
    print(f"within {limit}, three metrics with their audit")
    print(f"{'rows':>13}  {'form':24}{'seconds':>9}{'per row':>10}{'peak':>10}{'disk':>10}")
    with tempfile.TemporaryDirectory() as name:
        folder, last = Path(name), 0.0
        for rows in sizes:
            for form, options in FORMS.items():
                if form not in chosen.forms or (options.get("heavy") and rows > TOO_HEAVY):
                    continue
                path = folder / ("p.csv" if form == "CSV" else "p.parquet")
                draw_file(rows, path, **options)
                time.sleep(1)
                found = run(path, limit, folder / "temporary")
                print_row(rows, form, found)
                last = found[0] / rows if form == "Parquet" else last
                if rows <= chosen.memory_up_to and not options:
                    in_memory = run(path, None, folder / "temporary")
                    print_row(rows, f"{form}, in memory", in_memory)
                    check_scores(found[3], in_memory[3])
                path.unlink()
    print(f"a billion rows, at the largest file's cost per row: {last * BILLION / 60:.1f} minutes")


def print_row(rows: int, form: str, found: tuple[float, int, int, list[Any]]) -> None:
    """Print the time, memory and disk space of a run."""
    took, peak, disk, _ = found
    each = f"{took / rows * 1e9:.0f} ns"
    print(
        f"{rows:>13,}  {form:24}{took:>9.2f}{each:>10}{peak / 1e9:>7.2f} GB{disk / 1e9:>7.2f} GB",
        flush=True,
    )


def check_scores(scores: list[list[float]], in_memory: list[list[float]]) -> None:
    """Exit if the scores differ from those in memory."""
    difference = max(
        abs(a - b) for one, other in zip(scores, in_memory, strict=True)
        for a, b in zip(one, other, strict=True)
    )  # fmt: skip
    if difference > 1e-12:
        sys.exit(f"the scores differ by {difference}")


if __name__ == "__main__":
    main()
