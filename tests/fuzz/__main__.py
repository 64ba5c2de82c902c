"""Fuzz for so many seconds: `python -m fuzz SECONDS [stdio|web]` in `tests`; with atheris where it is installed."""

import sys
import tempfile
import time
from pathlib import Path

from fuzz.mutation import fuzz
from fuzz.subject import Subject, image
from fuzz.target import STDIO
from fuzz.web import WEB

try:
    import atheris
except ImportError:
    atheris = None


SUBJECTS = {"stdio": STDIO, "web": WEB}


def guided(subject: Subject, seconds: int) -> None:
    """Fuzz with atheris; it ends the process by itself."""
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(subject.seeds):
            Path(folder, f"seed{number}").write_bytes(bytes([number]) + seed)
        words = "".join('"' + "".join(f"\\x{byte:02x}" for byte in token[:60]) + '"\n' for token in subject.words)
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
        atheris.Setup([sys.argv[0], folder, *options], subject.run)
        atheris.Fuzz()


def main() -> int:
    """Fuzz, and say how it went; each subject has its part of the time."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    names = sys.argv[2:] or list(SUBJECTS)
    if atheris is not None:
        guided(SUBJECTS[names[0]], seconds)
        return 0
    for name in names:
        tried, kept, lines = fuzz(SUBJECTS[name], seconds / len(names), int(time.time()))
        sys.stdout.write(f"{name}: {tried} inputs, {kept} kept, {lines} lines reached, no crash (without atheris)\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
