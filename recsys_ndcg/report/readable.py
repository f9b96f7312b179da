"""What people read of a result: text, Markdown, LaTeX, a notebook's cell and a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recsys_ndcg.rendering import Document


class Readable(ABC):
    """A result that says itself what people read of it, and in which forms."""

    @abstractmethod
    def document(self, *, answer: bool = False) -> Document:
        """Return what people read of it.

        Parameters
        ----------
        answer : bool
            Whether a verdict stands above it, if there is one, for forms with room for it.
        """

    def page(self, command: str | None = None) -> Document:  # noqa: ARG002 - of some results
        """Return the same with all that a page has room for.

        Parameters
        ----------
        command : str, optional
            What was typed to make it, if that was a command line.
        """
        return self.document(answer=True)

    def to_markdown(self) -> str:
        """Return the table, the remarks and the signatures as Markdown."""
        return self._rendered("markdown")

    def to_latex(self) -> str:
        """Return the table as LaTeX, the remarks and the signatures as comments."""
        return self._rendered("latex")

    def to_html(self, path: str | Path | None = None) -> str:
        """Return it as a page, and write that if a path is given.

        One file that needs no network and lets nothing else run.

        Parameters
        ----------
        path : str or Path, optional
            The file.

        Raises
        ------
        MissingExtraError
            What the extra `report` brings is not installed.
        InvalidInputError
            The file cannot be written.
        """
        from recsys_ndcg.files import write_whole  # noqa: PLC0415
        from recsys_ndcg.rendering import render  # noqa: PLC0415 - rarely needed

        page = render(self.page(), "page")
        if path is not None:
            write_whole(path, page)
        return page

    def __str__(self) -> str:
        """Return the table, the remarks and the signatures as text."""
        return self._rendered("text")

    def __repr__(self) -> str:
        """Return the same."""
        return str(self)

    def _repr_html_(self) -> str:
        return self._rendered("html", answer=True)

    def _rendered(self, form: str, **what: Any) -> str:
        from recsys_ndcg.rendering import render  # noqa: PLC0415 - rarely needed

        return render(self.document(**what), form)
