"""A stand-in for `systemctl`, for a machine of its own: it starts units as their files say, and keeps their processes.

`python systemctl.py FOLDER WORD ...`; the folder has what systemd would keep.  It knows `daemon-reload`, `enable --now`
and `restart`, and of a unit what `mcpc ship systemd` writes: how it is started, its credentials, variables and folders.
`nginx` and `valkey` are started by their programs with the files below /etc.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

UNITS = Path("/etc/systemd/system")
STORE = next((name for name in ("valkey-server", "redis-server") if shutil.which(name)), "")
PATIENCE = 60.0
GROUPS = re.compile(r"^(\w+)=(.*)$", re.MULTILINE)


def main(folder: Path, words: list[str]) -> None:
    """Do what `systemctl` is asked for."""
    if words == ["daemon-reload"]:
        return
    verb, *units = [word for word in words if word != "--now"]
    assert verb in ("enable", "restart"), words
    for unit in units:
        stop(folder / f"{unit}.pid")
        start(folder, unit)


def stop(kept: Path) -> None:
    """End the process of a unit, and wait until it has ended."""
    if not kept.exists():
        return
    pid = int(kept.read_text())
    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + PATIENCE
    while Path(f"/proc/{pid}").exists() and not is_zombie(pid):
        assert time.monotonic() < until, f"{kept.stem} does not end"
        time.sleep(0.02)


def is_zombie(pid: int) -> bool:
    """Tell whether a process has ended, and nobody has asked for its status."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except OSError:
        return True


def start(folder: Path, unit: str) -> None:
    """Start the process of a unit; it outlives this one."""
    if unit == "nginx":
        command, environment = ["nginx"], dict(os.environ)
    elif unit == "valkey":
        command, environment = [STORE, "/etc/valkey/valkey.conf", "--dir", str(folder)], dict(os.environ)
    else:
        command, environment = service(folder, *unit.split("@"))
    with (folder / f"{unit}.log").open("ab") as log:
        started = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder,
            start_new_session=True,
        )  # fmt: skip
    (folder / f"{unit}.pid").write_text(str(started.pid))


def service(folder: Path, name: str, instance: str) -> tuple[list[str], dict[str, str]]:
    """Return the command and the variables of an instance of a unit."""
    own = folder / f"{name}@{instance}"
    credentials = own / "credentials"
    credentials.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = (UNITS / f"{name}@.service").read_text().replace("\\\n", " ")
    for sign, value in (("%i", instance), ("%d", str(credentials)), ("%S", str(own)), ("%C", str(own))):
        text = text.replace(sign, value)
    rows = GROUPS.findall(text)
    environment = {"PATH": os.environ["PATH"], "CREDENTIALS_DIRECTORY": str(credentials)}
    for key, value in rows:
        if key == "LoadCredential":
            credential, _, source = value.partition(":")
            (credentials / credential).unlink(missing_ok=True)
            shutil.copyfile(source, credentials / credential)
            (credentials / credential).chmod(0o400)
        elif key == "Environment":
            environment.update([value.split("=", 1)])
        elif key == "EnvironmentFile":
            environment.update(line.split("=", 1) for line in Path(value.lstrip("-")).read_text().splitlines())
        elif key in ("StateDirectory", "CacheDirectory"):
            (own / value).mkdir(parents=True, exist_ok=True)
    return shlex.split(dict(rows)["ExecStart"]), environment


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
