"""The ASGI application of a built file, for other ASGI servers; environment variables are its options."""

from __future__ import annotations

import os
import sys

from mcpc_runtime.artifact.packages import activate_server_packages
from mcpc_runtime.http.app import Application
from mcpc_runtime.http.serve import ServeError, build_application, image_of, read_settings
from mcpc_runtime.http.stamping import stamp_lines


def application(archive: str) -> Application:
    """Return the application of the server in `archive`; leave with the reason if it may not serve."""
    try:
        activate_server_packages(archive)
        image = image_of(archive)
        image.archive = os.path.abspath(archive)
        application = build_application(image, read_settings([], os.environ))[0]
        stamp_lines(os.environ)
        return application
    except ServeError as problem:
        sys.stderr.write(f"error: {problem}\n")
        raise SystemExit(problem.status) from None
