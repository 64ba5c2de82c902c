"""`python -m mcpc` has Python look for modules in the working folder first; this takes that folder off the path.

A project may have a `json.py` or a `click.py`, and the compiler is started inside projects.  Imported before all else.
"""

from __future__ import annotations

import os
import sys

import mcpc

if sys.path and sys.path[0] in ("", os.getcwd()) and not mcpc.__file__.startswith(f"{os.getcwd()}/"):  # noqa: PTH109
    del sys.path[0]
