"""Port: replace files of other programs: locks, owners, modes, and what may not be changed."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["keep_attributes", "lock_descriptor", "refusal_of_file", "replace_file"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.edited_files import (
        keep_attributes,
        lock_descriptor,
        refusal_of_file,
        replace_file,
    )
else:
    bind_port(globals(), f"{ADAPTER}.edited_files")
