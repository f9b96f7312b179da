"""Documents for people to read: text, Markdown, LaTeX, HTML, pages, and charts."""
