"""The documentation site: pages of `docs/`, reference pages from code, drawings and the recorded terminal.

`python -m generation` (in `docs`, or `make docs`) writes `build/site`.  Output depends on the sources only.
"""
