"""An interpreter can be linked if it has a static library and its headers."""

import shutil
import sysconfig
from pathlib import Path

import pytest

from mcpc.interpreters.selfcontained.interpreter import running_interpreter
from mcpc.interpreters.selfcontained.request import CannotEmbedError


@pytest.mark.parametrize(
    ("library", "files", "is_found"),
    [
        ("python.a", ("python.a", "Python.h"), True),
        ("python.a", ("python.a",), False),
        ("python.a", ("Python.h",), False),
        ("python.so", ("python.so", "Python.h"), False),
    ],
)
def test_what_is_linked(
    library: str, files: tuple[str, ...], is_found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in files:
        (tmp_path / name).write_bytes(b"")
    settings = {**sysconfig.get_config_vars(), "LIBPL": str(tmp_path), "LIBRARY": library}
    monkeypatch.setattr(sysconfig, "get_config_vars", lambda: settings)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: name)
    if is_found:
        assert running_interpreter().version >= (3, 11)
    else:
        with pytest.raises(CannotEmbedError, match="no static library with headers"):
            running_interpreter()
