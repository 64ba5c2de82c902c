"""Run the fault suite and print one table: `python -m faults [ID or beginning of an id ...] [--jobs 2]` in `tests`."""

import argparse
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

from faults import forms
from faults.table import CASES, begin, judge, rest


def main() -> int:
    """Run what is asked for, print the table, and return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ids", nargs="*", help="ids, or how they begin; all if none is given")
    parser.add_argument("--form", action="append", choices=forms.FORMS)
    parser.add_argument("--era", action="append")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--failed", action="store_true", help="print only what failed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as builds:
        tasks = [
            (number, form, era, builds)
            for number, case in enumerate(CASES)
            if not options.ids or case.id.startswith(tuple(options.ids))
            for form in case.forms
            if not options.form or form in options.form
            for era in case.eras
            if not options.era or era in options.era
        ]
        for form, http in sorted({(form, CASES[number].http) for number, form, _, _ in tasks}):
            forms.build(form, Path(builds), http=http)
        began = time.monotonic()
        context = multiprocessing.get_context("spawn")
        with context.Pool(options.jobs, begin, (context.Barrier(options.jobs),)) as pool:
            failures = report(pool.imap(judge, tasks), options.failed)
            left = [problem for problem in pool.map(rest, range(options.jobs), 1) if problem]
    sys.stdout.write("".join(f"FAILED at the end of a server that was shared: {problem}\n" for problem in left))
    sys.stdout.write(f"\n{len(tasks) - failures} of {len(tasks)} passed in {time.monotonic() - began:.0f} s\n")
    return int(bool(failures or left))


def report(results: object, failed_only: bool) -> int:
    """Print a line for each result as it comes; return how many failed."""
    failures = 0
    last = -1
    for number, form, era, said, took in results:  # type: ignore[attr-defined]
        case = CASES[number]
        failures += took < 0
        if took > 0 and failed_only:
            continue
        if number != last:
            sys.stdout.write(f"{case.id:6} {case.what}\n")
            last = number
        sys.stdout.write(f"       {'ok    ' if took > 0 else 'FAILED'} {form:7}{era:10}{abs(took):6.1f} s  {said}\n")
        sys.stdout.flush()
    return failures


if __name__ == "__main__":
    sys.exit(main())
