"""Remove the working folder from Python's module search path; `python -m mcpc` puts it first.

A project may have a `json.py` or a `click.py`, and the compiler is started inside projects. This module is imported
first.
"""

from __future__ import annotations

import os
import sys

import mcpc

if sys.path and sys.path[0] in ("", os.getcwd()) and not mcpc.__file__.startswith(f"{os.getcwd()}{os.sep}"):  # noqa: PTH109
    del sys.path[0]
