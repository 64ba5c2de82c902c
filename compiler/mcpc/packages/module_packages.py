"""The packages of modules whose names differ, and the modules of servers, for hints about imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.model.ir import PythonFunction

if TYPE_CHECKING:
    from mcpc.model.ir import Server
    from mcpc.reading import Source

OWN_MODULES = ("fastmcp", "mcp", "mcpc")
"""The modules that servers are written with."""
NEAR = 0.75
"""How similar a name must be to that of a known module."""
PACKAGES = {
    "Crypto": "pycryptodome",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyOpenSSL",
    "PIL": "pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "discord": "discord.py",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "github": "PyGithub",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "ldap": "python-ldap",
    "magic": "python-magic",
    "multipart": "python-multipart",
    "nacl": "PyNaCl",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "telegram": "python-telegram-bot",
    "usb": "pyusb",
    "win32api": "pywin32",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
    **{name: name for name in ("html5lib", "httpx", "lxml", "orjson", "tomli", "trio", "typer", "ujson", "urllib3")},
}
"""Packages of PyPI by the module that is imported: where the names differ, or look like a misspelt standard module."""
COMMON = (
    *("aiohttp", "anthropic", "boto3", "click", "fastapi", "flask", "httpx", "jinja2", "matplotlib", "numpy", "openai"),
    *("pandas", "polars", "psutil", "pydantic", "pydantic_settings", "pytest", "redis", "requests", "scipy"),
    *("sqlalchemy", "starlette", "torch", "typing_extensions", "uvicorn", *PACKAGES),
)
"""Modules of packages that are used most often, which may be misspelt."""


MODELS = "models"
"""The row of `mcpc_runtime.handlers.python.bindings.BINDINGS` that makes models of a call's arguments."""


def python_handlers(server: Server) -> list[PythonFunction]:
    """Return the handlers that are Python functions."""
    handlers = [definition.handler for definition in server.definitions]
    return [handler for handler in handlers if isinstance(handler, PythonFunction)]


def handler_files(server: Server) -> tuple[Source, ...]:
    """Return the files of the Python handlers, in the order of their paths."""
    used = {handler.file for handler in python_handlers(server)}
    return tuple(file.source for file in server.files if file.source.path in used)


def needs_models(server: Server) -> bool:
    """Tell whether the project's code uses a model, or a handler's arguments are one; models need pydantic."""
    return bool(server.models) or any(handler.binding[:1] == (MODELS,) for handler in python_handlers(server))
