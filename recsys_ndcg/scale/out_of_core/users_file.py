"""The scores of every user in a file of Parquet, written as they come."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, check_path, needing
from recsys_ndcg.files.writing import replacing
from recsys_ndcg.rendering.exports import form_of
from recsys_ndcg.report.tables import scores_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recsys_ndcg.scoring.scores import Scores


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
