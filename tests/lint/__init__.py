"""Rules of this project that no linter knows, each a check of the whole tree: `python -m lint`, a part of `make lint`."""
