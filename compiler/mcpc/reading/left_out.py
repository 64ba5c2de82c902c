"""What is in no built file unless `include` matches it: secrets, build output, hidden folders, and what tools keep.

The same for projects of every kind.  Beside this list only `exclude` and `.gitignore` leave files out (`selection.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.reading.source import Source

SECRET, EXCLUDED, IGNORED, OUTPUT, HIDDEN = "secret", "`exclude`", "`.gitignore`", "build output", "hidden folder"
CASES, INSTALLED, CACHE, VERSIONS = "cases of `mcpc test`", "installed packages", "cache", "version control"
REASONS = (SECRET, EXCLUDED, IGNORED, HIDDEN, OUTPUT, CASES, INSTALLED, CACHE, VERSIONS)
"""Why a file or a folder is left out; what the author may not know comes first."""
EXPECTED = frozenset({CASES, INSTALLED, CACHE, VERSIONS})
"""Reasons that surprise no author."""
NEVER_READ = frozenset({INSTALLED, CACHE, VERSIONS})
"""Folders that are not read, whatever `include` matches, and links and files of their names."""

FOLDERS = {
    INSTALLED: re.compile(r"node_modules|\.venv"),
    CACHE: re.compile(r"__pycache__|\.[\w.-]*_cache|\.cache|\.tox|\.nox|\.eggs|\.hypothesis|htmlcov"),
    VERSIONS: re.compile(r"\.git|\.hg|\.svn|\.bzr|\.jj"),
    OUTPUT: re.compile(r"[^/]+\.egg-info|(?:.*/)?build/(?:lib|lib\.[^/]+|bdist\.[^/]+|scripts-[^/]+)"),
    HIDDEN: re.compile(r"\.[^/]+"),
}
"""The names of folders; those of `build` with the folder that they are in."""
FILES = {
    CASES: re.compile(r"tests/[^/]+\.(?:json|ya?ml)"),
    OUTPUT: re.compile(r"(?:.*/)?dist/[^/]+\.(?:whl|tar\.gz|mcpb)|\.coverage(?:\..+)?"),
}
"""The paths of files."""

ENVIRONMENT = ".env"
HARMLESS = (".example", ".sample", ".template", ".dist", ".defaults")
KEYS = frozenset(
    {"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials"}
)
STORES = (".p12", ".pfx", ".jks", ".kdbx", ".ppk")
MAY_BE_KEYS = (".pem", ".key")
PRIVATE = b"PRIVATE KEY"
"""Text in a private key file that a certificate does not contain."""


def folder_reason(path: str) -> str:
    """Return why a folder is left out by its name; empty if it is not."""
    name = path.rpartition("/")[2]
    return next((why for why, names in FOLDERS.items() if names.fullmatch(name) or names.fullmatch(path)), "")


def file_reason(source: Source) -> str:
    """Return why a file is left out by its name or its content; empty if it is not."""
    if is_secret(source):
        return SECRET
    return next((why for why, paths in FILES.items() if paths.fullmatch(source.path)), "")


def is_secret(source: Source) -> bool:
    """Tell whether a file has a name typical of secrets, or is a private key."""
    name = source.path.rpartition("/")[2]
    is_environment = name == ENVIRONMENT or name.startswith(f"{ENVIRONMENT}.")
    is_key = name.endswith(STORES) or (name.endswith(MAY_BE_KEYS) and PRIVATE in source.data)
    return name in KEYS or is_key or (is_environment and not name.endswith(HARMLESS))
