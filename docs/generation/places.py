"""Where sources and outputs of the site are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
THEME = DOCS / "theme"
CONFIG = ROOT / "zensical.toml"
BUILD = ROOT / "build"
