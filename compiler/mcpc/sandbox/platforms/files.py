"""Port: open, identify and replace files, and what their modes mean."""

from typing import TYPE_CHECKING

from mcpc.sandbox.platforms import PLATFORM
from mcpc_runtime.transports.platforms import bind_port

__all__ = [
    "READ_FLAGS",
    "cache_home",
    "file_state",
    "permissions",
    "replace_file",
    "servers_folder",
    "status_of_entry",
]

if TYPE_CHECKING:
    from mcpc.sandbox.platforms.posix.files import (
        READ_FLAGS,
        cache_home,
        file_state,
        permissions,
        replace_file,
        servers_folder,
        status_of_entry,
    )
else:
    bind_port(globals(), f"mcpc.sandbox.platforms.{PLATFORM}.files")
