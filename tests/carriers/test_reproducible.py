"""One file, one set of carriers: whatever differs in the environment, in the Python, the hour or the place."""

import json
import os
import sys
import sysconfig
from pathlib import Path

from mcpc.cli.carrier_files import write_files
from mcpc.release.carriers import BuiltServer
from mcpc.release.carriers.image import ImageOptions, image_layout
from support.artifact import SOURCES
from support.interpreters import interpreters
from support.needs import ROOT
from support.processes import run_program

PROGRAM = ROOT / "tests/carriers/every_carrier.py"
ENVIRONMENTS = (
    {"TZ": "UTC", "LANG": "C", "PYTHONHASHSEED": "1"},
    {"TZ": "Asia/Kathmandu", "LANG": "C.UTF-8", "PYTHONHASHSEED": "77", "HOME": "/nowhere", "USER": "somebody"},
    {"TZ": "America/St_Johns", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "4242", "PYTHONUTF8": "1"},
)
UMASKS = (0o022, 0o077, 0o002)


def test_every_carrier_is_the_same_everywhere(tmp_path: Path, artifact: Path, server: BuiltServer) -> None:
    base = tmp_path / "base"
    write_files(base, image_layout((server,), ImageOptions(created="2020-01-01T00:00:00Z")))
    pythons = [str(path) for version, path in interpreters().items() if version != "3.14"] or [sys.executable]
    digests = []
    for number, environment in enumerate(ENVIRONMENTS):
        folder = tmp_path / f"place {number}"
        folder.mkdir()
        place = folder / f"name{number}.pyz"
        place.write_bytes(artifact.read_bytes())
        os.utime(place, (number * 10**8, number * 10**8))
        found = {"PATH": os.environ["PATH"], **environment}
        found["PYTHONPATH"] = os.pathsep.join((SOURCES, sysconfig.get_path("purelib")))
        argv = [pythons[number % len(pythons)], "-W", "ignore", str(PROGRAM), str(place), str(base)]
        done = run_program(argv, cwd=folder, env=found, umask=UMASKS[number], status=0)
        digests.append(json.loads(done.stdout))
    assert digests[0] == digests[1] == digests[2]
    assert len({*digests[0].values()}) == len(digests[0]) == 13
