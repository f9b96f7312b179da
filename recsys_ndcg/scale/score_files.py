"""The scores of every user on disk: a table for the reader, and columns for the median."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, check_path, needing
from recsys_ndcg.files import replacing
from recsys_ndcg.rendering import form_of
from recsys_ndcg.report import scores_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.scoring import Scores


class ScoreFile:
    """Scores of users under some metrics, a file for each metric, without those who have none.

    Of all statistics the median alone needs them.

    Parameters
    ----------
    folder : Path
        Where they are written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: list[Path] = []

    def add(self, per_user: Floats) -> None:
        """Write the scores of some users: shape (n_users, n_metrics), NaN where there is none."""
        self._paths = [self._folder / f"scores_{place}" for place in range(per_user.shape[1])]
        for path, column in zip(self._paths, per_user.T, strict=True):
            with path.open("ab") as file:
                file.write(column[~np.isnan(column)].tobytes())

    def median(self) -> Floats:
        """Return the median of each metric, NaN of no scores; the files are not in order after it.

        What the system maps of a file it may take out of the memory again.
        """
        found = np.full(len(self._paths), np.nan)
        for place, path in enumerate(self._paths):
            if path.stat().st_size:
                scores = np.memmap(path, dtype=np.float64, mode="r+")
                found[place] = np.median(scores, overwrite_input=True)
        return found


@contextmanager
def users_file(path: str | Path | None) -> Iterator[Callable[[Scores], None]]:
    """Write users to a file, which is there when all of them are; None writes nothing.

    Parameters
    ----------
    path : str or Path, optional
        The file; one that is there is replaced.

    Raises
    ------
    InvalidInputError
        It is no file of Parquet, or cannot be written.
    """
    if path is None:
        yield lambda _: None
        return
    check_path(path)
    if form_of(str(path)) != ".parquet":
        msg = f"{path}: scores of users are written to Parquet as they come: end it in .parquet."
        raise InvalidInputError(msg)
    with needing("pyarrow", job="Writing Parquet", extra="scale"):
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra
    place, writers = Path(os.path.realpath(path)), list[Any]()
    with _written(path), replacing(place) as file:

        def write(scores: Scores) -> None:
            table = pa.Table.from_pandas(scores_table(scores).reset_index(), preserve_index=False)
            with _written(path):
                if not writers:
                    writers.append(parquet.ParquetWriter(file, table.schema))
                writers[0].write_table(table)

        try:
            yield write
        except OSError as error:  # of the job, and none of this file
            raise _ElsewhereError(error) from error
        finally:
            for one in writers:
                one.close()


class _ElsewhereError(Exception):
    """What another file is at fault of."""


@contextmanager
def _written(path: str | Path) -> Iterator[None]:
    """Turn what the system says against a file that is written into an error of ours."""
    try:
        yield
    except _ElsewhereError as error:
        raise error.args[0] from None
    except OSError as error:
        msg = f"{path}: cannot be written ({error.strerror or error})."
        raise InvalidInputError(msg) from None
