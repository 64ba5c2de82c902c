"""The site as a whole: sources are collected and completed in one folder, and Zensical turns them into pages.

Zensical runs in its strict mode: a link to a page or a heading that does not exist is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from generation.places import CONFIG, DOCS, ROOT, THEME
from generation.reference import GENERATED_PAGES, SECTIONS
from generation.sources import SITE_PATHS, complete, page_for_site

FIRST_PAGE = "---\nhide: [navigation, toc]\n---\n\n"
"""What Zensical reads before the first page: its width is for the text."""
NOT_SHOWN = ("generation", "theme")
"""Folders of `docs` whose files are not part of pages."""


def build_site(output: Path) -> int:
    """Write `docs`, `theme`, `zensical.toml` and `site` below a folder; return the exit status of Zensical."""
    output = output.resolve()
    for name in ("docs", "site", THEME.name):
        shutil.rmtree(output / name, ignore_errors=True)
    write_sources(output / "docs")
    shutil.copytree(THEME, output / THEME.name)
    shutil.copy(CONFIG, output / CONFIG.name)
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--strict", "--clean"]
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(command, cwd=output, env=environment, check=False).returncode


def write_sources(folder: Path) -> None:
    """Write every page of the site as Markdown, and the files that pages show."""
    for source, target in SITE_PATHS.items():
        text = complete((ROOT / source).read_text(encoding="utf-8"), SECTIONS)
        write(folder / target, FIRST_PAGE * (target == "index.md") + page_for_site(text, source))
    for name, generate in GENERATED_PAGES.items():
        write(folder / name, generate())
    for file in sorted(DOCS.rglob("*")):
        path = file.relative_to(DOCS)
        if file.is_file() and file.suffix != ".md" and path.parts[0] not in NOT_SHOWN:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)


def write(file: Path, text: str) -> None:
    """Write a text file and the folders that it is in."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
