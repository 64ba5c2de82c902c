"""Fuzz for so many seconds: `python -m fuzz SECONDS` in `tests`; with atheris where it is installed."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from fuzz.mutation import fuzz
from fuzz.target import SEEDS, TOKENS, converse, image

try:
    import atheris
except ImportError:
    atheris = None


def guided(seconds: int) -> None:
    """Fuzz with atheris; it ends the process by itself."""
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(SEEDS):
            Path(folder, f"seed{number}").write_bytes(bytes([number]) + seed)
        words = "".join('"' + "".join(f"\\x{byte:02x}" for byte in token[:60]) + '"\n' for token in TOKENS)
        dictionary = Path(folder, "words.dict")
        dictionary.write_text(words)
        image()
        atheris.instrument_all()
        options = [
            f"-max_total_time={seconds}",
            "-timeout=5",
            "-rss_limit_mb=512",
            "-max_len=8192",
            f"-dict={dictionary}",
        ]
        atheris.Setup([sys.argv[0], folder, *options], converse)
        atheris.Fuzz()


def main() -> int:
    """Fuzz, and say how it went."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    if atheris is not None:
        guided(seconds)
        return 0
    tried, kept, lines = fuzz(converse, seconds, int(time.time()))
    sys.stdout.write(
        f"{tried} inputs in {seconds} s, {kept} kept, {lines} lines reached, no crash (atheris is not here)\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
