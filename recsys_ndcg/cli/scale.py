"""Data that need not fit the memory: several files, and a limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recsys_ndcg.cli.source import check_way, files_of, how_written, is_dash, lists_of
from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    from recsys_ndcg.cli.output import Files
    from recsys_ndcg.cli.parameters import Source, Written
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scoring.plan import Plan


@dataclass(frozen=True)
class Scale:
    """How many files there are, and how much memory."""

    more: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="More files of it.", show_default=False),
    ] = None
    memory_limit: Annotated[
        str | None,
        typer.Option(
            help="How much memory may be used, such as 2GB: the rows of CSV and Parquet are then "
            "brought together on disk, as those of several files are in any case."
        ),
    ] = None

    def measured(
        self, source: Source, written: Written, plan: Plan, files: Files, *, quiet: bool
    ) -> tuple[Report, Files]:
        """Return the report, and the files that are still to be written.

        Raises
        ------
        InvalidInputError
            The options do not go together, or the data cannot be read.
        """
        from recsys_ndcg.evaluation import evaluated, measured
        from recsys_ndcg.scale.engines import engine_for

        data = self._data(source)
        if data is None:
            return measured(lists_of(source, written, plan.duplicates), plan), files
        columns, text = how_written(written)
        # as they come, where not all of them may be kept
        streamed = None if engine_for(data, self.memory_limit) is None else files.per_user
        report = evaluated(
            data,
            plan,
            columns,
            text=text,
            n_items=source.n_items,
            memory_limit=self.memory_limit,
            per_user=streamed,
            progress=not quiet,
        )
        return report, files if streamed is None else replace(files, per_user=None)

    @property
    def files(self) -> dict[str, Path]:
        """The files beyond the first one, by what messages call them."""
        return {f"FILE {place}": path for place, path in enumerate(self.more or (), start=2)}

    def _data(self, source: Source) -> Any:
        """Return what is read, as `recsys_ndcg.evaluate` takes it; None of a stream, or TREC."""
        given = files_of(source)
        check_way(given, source.n_items)
        several = bool(self.more) or self.memory_limit is not None
        if "--qrels" in given or any(map(is_dash, given.values())):
            if several:
                msg = (
                    "Several files, and --memory-limit, are for tables in files of their own, and "
                    "neither for standard input nor for --qrels and --run."
                )
                raise InvalidInputError(msg)
            return None
        if "--labels" in given:
            if self.more:
                msg = "Give --labels and --results, or files of predictions, not both."
                raise InvalidInputError(msg)
            return {"labels": given["--labels"], "results": given["--results"]}
        return [given["FILE"], *self.more] if self.more else given["FILE"]
