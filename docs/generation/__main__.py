"""Write the documentation site: `python -m generation [--output FOLDER]`; a broken link is an error."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from generation.places import BUILD
from generation.site import build_site


def main() -> int:
    """Build the site and say where it is; return the exit status."""
    parser = argparse.ArgumentParser(prog="generation", description=__doc__)
    parser.add_argument("--output", type=Path, default=BUILD, help="where `site` and its generated sources go (build)")
    options = parser.parse_args()
    status = build_site(options.output)
    if status == 0:
        sys.stdout.write(f"the site is in {options.output / 'site'}: open {options.output / 'site/index.html'}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
