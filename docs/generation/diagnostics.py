"""The pages of diagnostic codes: one page for each family; the codes of a scan, and the rules of a comparison."""

from __future__ import annotations

import re

from generation.markdown import block, code, plain, table
from mcpc.diagnostics import CODES, codes, explain
from mcpc.release.comparison.rules import RULES
from mcpc.release.scan.model import CODES as RISKS

FAMILY = re.compile(r"(\d)xx ([a-z ]+)")
FAMILIES = {f"MCP{digit}": title for digit, title in FAMILY.findall(" ".join((codes.__doc__ or "").split()))}
"""The families of codes, as their table describes them."""
LIST_ITEM = re.compile(r"\n(?=- )")


def page_name(family: str) -> str:
    """Return the file name of a family's page."""
    return f"{family.lower()}xx.md"


def members(family: str) -> list[str]:
    """Return the codes of a family."""
    return [name for name in CODES if name.startswith(family)]


def families() -> str:
    """Return every code with its severity and title, by family, with links to the pages."""
    parts = []
    for family, title in FAMILIES.items():
        rows = [
            (f"[{name}]({page_name(family)}#{name.lower()})", CODES[name].severity, plain(CODES[name].title))
            for name in members(family)
        ]
        parts.append(f"## {family}xx: {title}\n\n{table(('code', 'severity', 'title'), rows)}")
    return "\n".join(parts)


def family_page(family: str) -> str:
    """Return the page of a family: each code with what it means and what to do."""
    return f"# {family}xx: {FAMILIES[family]}\n\n" + "\n".join(map(code_section, members(family)))


def code_section(name: str) -> str:
    """Return the page of one code as a section."""
    row, page = CODES[name], explain(name).split("\n\n", 1)[-1]
    return f"## {name} {{ #{name.lower()} }}\n\n**{row.severity}: {plain(row.title)}**\n\n{page_text(page)}"


def page_text(page: str) -> str:
    """Return the text of a diagnostic page as Markdown: indented lines are code, the rest is plain text."""
    parts = page.rstrip("\n").split("\n\n")
    texts = (block(dedented(part)).rstrip() if part.startswith("    ") else listed(part) for part in parts)
    return "\n\n".join(texts) + "\n"


def dedented(part: str) -> str:
    """Return a block of code without its indentation."""
    return "\n".join(line.removeprefix("    ") for line in part.split("\n"))


def listed(paragraph: str) -> str:
    """Return a paragraph; items of a list get the blank line before them that Markdown needs."""
    items = LIST_ITEM.split(paragraph)
    first = "" if items[0].startswith("- ") or not items[1:] else plain(items.pop(0)) + "\n\n"
    return first + "\n".join(map(plain, items))


def scan_codes() -> str:
    """Return the codes of `mcpc scan` as a table."""
    rows = [
        (code(name), str(risk.risk.value), f"{plain(risk.title)}. {plain(risk.why)}", f"{plain(risk.advice)}")
        for name, risk in RISKS.items()
    ]
    return table(("code", "risk", "what and why", "what to do"), rows)


def diff_rules() -> str:
    """Return the rules of `mcpc diff` as a table."""
    rows = [(code(name), rule.verdict.value, plain(rule.title)) for name, rule in RULES.items()]
    return table(("rule", "verdict", "change"), rows)
