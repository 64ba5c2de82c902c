"""`python -m vocabulary`: print offences that are not allowed, and fail; `--update` writes the allowed ones anew."""

from __future__ import annotations

import sys

from vocabulary.check import ALLOWED, find_offences, read_allowed


def main(update: bool) -> int:
    """Check the vocabulary, or write the list of what waits for a rename; return the exit status."""
    found = find_offences()
    if update:
        ALLOWED.write_text("".join(f"{offence}\n" for offence in found), encoding="utf-8")
        return 0
    allowed = set(read_allowed())
    new = [offence for offence in found if offence not in allowed]
    gone = sorted(allowed.difference(found))
    for offence in new:
        sys.stdout.write(f"{offence}: see docs/glossary.md\n")
    for offence in gone:
        sys.stdout.write(f"tests/vocabulary/allowed.txt: no longer needed: {offence}\n")
    return 1 if new or gone else 0


if __name__ == "__main__":
    sys.exit(main("--update" in sys.argv[1:]))
