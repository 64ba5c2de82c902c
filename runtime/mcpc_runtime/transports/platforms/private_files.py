"""Port: files and folders that only this user can change."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = [
    "UnusableFolderError",
    "access_of_others",
    "check_private",
    "check_unshared",
    "is_credential",
    "is_own_file",
    "make_private_folder",
    "make_private_folders",
    "state_folder",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.private_files import (
        UnusableFolderError,
        access_of_others,
        check_private,
        check_unshared,
        is_credential,
        is_own_file,
        make_private_folder,
        make_private_folders,
        state_folder,
    )
else:
    bind_port(globals(), f"{ADAPTER}.private_files")
