"""Port: files and folders that only this user can change."""

from mcpc_runtime.platforms import ADAPTER, bind_port

__all__ = ["UnusableFolderError", "check_private", "check_unshared", "make_private_folder", "make_private_folders"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.platforms.posix.private_files import (
        UnusableFolderError,
        check_private,
        check_unshared,
        make_private_folder,
        make_private_folders,
    )
else:
    bind_port(globals(), f"{ADAPTER}.private_files")
