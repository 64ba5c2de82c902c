"""The stand-in of uvicorn for programs that serve an application with their server in it."""

from __future__ import annotations

import asyncio
from typing import Any

from mcpc_runtime.systems.fastmcp.engine.web import ServedApplication
from mcpc_runtime.systems.fastmcp.program import current_program


class Config:
    """What an application is served with; only the application counts."""

    def __init__(self, app: object = None, *_: object, **options: Any) -> None:
        self.app = app
        self.__dict__.update(options)

    def load(self) -> None:
        """Do nothing: there is nothing to load."""


class Server:
    """Serves the server that an application contains."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.should_exit = self.force_exit = self.started = False

    def run(self, *_: object, **__: object) -> None:
        """Serve until the process ends."""
        asyncio.run(self.serve())

    async def serve(self, *_: object, **__: object) -> None:
        """Serve until the process ends."""
        app = self.config.app
        current_program.application = None if isinstance(app, str) else app
        await current_program.serve_async(app.mcpc_server if isinstance(app, ServedApplication) else None)


def run(app: object = None, **options: Any) -> None:
    """Serve the server that an application contains until the process ends."""
    Server(Config(app, **options)).run()
