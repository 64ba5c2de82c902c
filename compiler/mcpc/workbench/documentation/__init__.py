"""Documentation of a server for its users, as one file: `mcpc generate docs`.

    facts ─page_of─▶ ServerPage ─FORMATS─▶ HTML or Markdown

A page is made of what a server offers and of nothing else: no time, no path, no name of this machine.  Every text of a
definition is shown as text, with hidden characters made visible; the HTML loads nothing and runs one known script.
"""

from mcpc.workbench.documentation.page import ServerPage, page_of
from mcpc.workbench.documentation.writing import html_page, markdown_page

FORMATS = {"html": html_page, "markdown": markdown_page}
"""The function of each format, from a ServerPage to text."""

__all__ = ["FORMATS", "ServerPage", "page_of"]
