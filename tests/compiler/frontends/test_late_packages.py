"""Packages that others import only if they are there: which ones of those that a framework brings are added."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc.frontends.fastmcp.late_packages import with_late_packages
from mcpc.frontends.fastmcp.packages import ProgramPackages
from mcpc.model.ir.layer import RequestedPackage
from mcpc.reading import Source
from support.files import write_files

INSTALLED = {
    "starlette/__init__.py": "",
    "starlette/requests.py": "from starlette import formparsers\n",
    "starlette/formparsers.py": """from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import watchfiles
else:
    try:
        from python_multipart.multipart import parse
    except ModuleNotFoundError:
        parse = None
        import not_brought
def late():
    import requests
""",
    "starlette/testclient.py": "import httpx\n",
    "jwt/__init__.py": "from .algorithms import x\ntry:\n    from . import command\nexcept ImportError:\n    pass\n",
    "jwt/algorithms.py": "try:\n    import cryptography.hazmat\nexcept ImportError:\n    x = 1\n",
    "jwt/command.py": "import rich\n",
    "pydantic/__init__.py": "try:\n    import email_validator\nexcept ImportError:\n    pass\n",
}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import json\n", []),
        ("from starlette.requests import Request\n", ["python-multipart"]),
        ("from starlette.testclient import TestClient\n", ["httpx"]),
        ("import jwt\n", ["cryptography"]),
        ("def f():\n    import jwt\n    import starlette.requests\n", ["cryptography", "python-multipart"]),
        ("from pydantic import BaseModel\n", []),
        ("from pydantic import EmailStr\n", ["email-validator"]),
    ],
)
def test_what_is_added(code: str, expected: list[str], tmp_path: Path) -> None:
    write_files(tmp_path, INSTALLED)
    distributions = tuple(SimpleNamespace(name=name) for name in ("starlette", "pyjwt", "pydantic"))
    staged: Any = SimpleNamespace(root=tmp_path, distributions=distributions)
    packages = ProgramPackages(SimpleNamespace(), (RequestedPackage("pyjwt", "pyjwt"),))  # type: ignore[arg-type]
    found = with_late_packages(packages, [Source("server.py", code.encode())], staged)
    assert [item.name for item in found.requirements[1:]] == expected
    assert (found is packages) is not bool(expected)
