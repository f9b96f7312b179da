"""What files larger than memory take: seconds, memory of the process, and disk, by size and form.

    python benchmarks/scale.py [--rows 1000000 10000000 100000000] [--limit 2GB] [--quick]

Draws rows straight into files, by DuckDB; each run is a process of its own, whose peak is that of
the operating system. The files are about 17 bytes a row in Parquet, 22 in CSV, and are taken away.
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

from watched import watched

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
#: Rows of which a user with 30 % has more than the memory holds.
TOO_HEAVY = 20_000_000
#: Run in a process of its own: the path, the limit or nothing, where to put what was found.
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


def drawn(rows: int, path: Path, *, text: bool = False, heavy: bool = False) -> None:
    """Write rows of users with about a hundred items each, in random order of the users.

    A user has an item once: each round of all items goes to users of its own. Text ids have
    letters in front; a heavy user has 30 % of all rows.
    """
    import duckdb  # noqa: PLC0415 - in the process that draws alone

    users, rounds = max(rows // 100, 1), rows // ITEMS + 1
    user = f"CAST(floor({users} * (range // {ITEMS} + random()) / {rounds}) AS BIGINT)"
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


def ran(data: Any, limit: str | None, folder: Path) -> tuple[float, int, int, list[Any]]:
    """Return seconds, the peak of the process, the most disk, and the scores."""
    folder.mkdir()
    sizes = [0]

    def look() -> None:
        sizes.append(sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()))

    command = [sys.executable, "-c", RUN, json.dumps([str(data), limit, THRESHOLD])]
    with watched(look, 0.1):
        ended = subprocess.run(  # noqa: S603 - our own
            command, capture_output=True, text=True, check=True, env={"TMPDIR": str(folder)}
        )
    folder.rmdir()  # in which nothing was left
    took, peak, *scores = json.loads(ended.stdout)
    return took, peak, max(sizes), scores


def main() -> None:
    """Draw files, evaluate them, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--limit", default="2GB")
    parser.add_argument("--memory-up-to", type=int, default=10_000_000)
    parser.add_argument("--forms", nargs="+", default=list(FORMS), choices=FORMS)
    parser.add_argument("--quick", action="store_true", help="1,000,000 rows within 600 MB")
    asked = parser.parse_args()
    sizes, limit = ([1_000_000], "600MB") if asked.quick else (asked.rows, asked.limit)
    print(f"within {limit}, three metrics and what is beside them")
    print(f"{'rows':>13}  {'form':24}{'seconds':>9}{'per row':>10}{'peak':>10}{'disk':>10}")
    with tempfile.TemporaryDirectory() as name:
        folder, last = Path(name), 0.0
        for rows in sizes:
            for form, options in FORMS.items():
                if form not in asked.forms or (options.get("heavy") and rows > TOO_HEAVY):
                    continue
                path = folder / ("p.csv" if form == "CSV" else "p.parquet")
                drawn(rows, path, **options)
                time.sleep(1)
                found = ran(path, limit, folder / "temporary")
                line(rows, form, found)
                last = found[0] / rows if form == "Parquet" else last
                if rows <= asked.memory_up_to and not options:
                    inside = ran(path, None, folder / "temporary")
                    line(rows, f"{form}, in memory", inside)
                    compared(found[3], inside[3])
                path.unlink()
    print(
        f"at the cost of a row of the largest: a billion rows in {last * BILLION / 60:.1f} minutes"
    )


def line(rows: int, form: str, found: tuple[float, int, int, list[Any]]) -> None:
    """Print what a run took."""
    took, peak, disk, _ = found
    each = f"{took / rows * 1e9:.0f} ns"
    print(
        f"{rows:>13,}  {form:24}{took:>9.2f}{each:>10}{peak / 1e9:>7.2f} GB{disk / 1e9:>7.2f} GB",
        flush=True,
    )


def compared(one: list[list[float]], other: list[list[float]]) -> None:
    """Refuse other scores than those in memory."""
    apart = max(
        abs(a - b) for mine, theirs in zip(one, other, strict=True)
        for a, b in zip(mine, theirs, strict=True)
    )  # fmt: skip
    if apart > 1e-12:
        sys.exit(f"the scores differ by {apart}")


if __name__ == "__main__":
    main()
