"""The server as an ASGI application, for whoever has a server of those: variables say here what words say there."""

from __future__ import annotations

import os
import sys

from mcpc_runtime.http.serve import RefusedError, chosen, image_of, made
from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.http.stamping import stamp_lines
    from mcpc_runtime.layer.serving import bring
else:
    bring = lazy("mcpc_runtime.layer.serving:bring")
    stamp_lines = lazy("mcpc_runtime.http.stamping:stamp_lines")


def application(archive: str) -> Any:
    """Return the application of the server in `archive`; leave with the reason if it may not serve."""
    try:
        bring(archive)
        image = image_of(archive)
        image.archive = os.path.abspath(archive)
        application = made(image, chosen([], os.environ))[0]
        stamp_lines(os.environ)
        return application
    except RefusedError as problem:
        sys.stderr.write(f"error: {problem}\n")
        raise SystemExit(problem.status) from None
