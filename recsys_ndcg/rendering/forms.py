"""A document as text in any form."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recsys_ndcg.rendering.document import Document


def render(document: Document, form: str, *, tables_only: bool = False) -> str:
    """Return a document in one of its forms.

    Parameters
    ----------
    document : Document
        Any.
    form : {'text', 'markdown', 'latex', 'html', 'page'}
        HTML is a part of a page, such as a notebook shows; a page is a whole file, with charts.
    tables_only : bool
        Whether Markdown or LaTeX shall hold nothing beside the tables.

    Raises
    ------
    MissingExtraError
        What the form needs is not installed.
    """
    # each form has a library of its own, which is imported when it is needed
    if form == "text":
        from recsys_ndcg.rendering.text import to_text  # noqa: PLC0415

        return to_text(document)
    if form == "markdown":
        from recsys_ndcg.rendering.markdown import to_markdown  # noqa: PLC0415

        return to_markdown(document, tables_only=tables_only)
    if form == "latex":
        from recsys_ndcg.rendering.latex import to_latex  # noqa: PLC0415

        return to_latex(document, tables_only=tables_only)
    if form == "html":
        from recsys_ndcg.rendering.html import to_html  # noqa: PLC0415

        return to_html(document)
    from recsys_ndcg.rendering.page.assembling import to_page  # noqa: PLC0415

    return to_page(document)
