"""Port: files and folders that only this user can change, files below a folder, replaced files, files in memory."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = [
    "UnusableFolderError",
    "access_of_others",
    "candidate_folders",
    "check_folder",
    "check_private",
    "check_unshared",
    "is_credential",
    "is_own_file",
    "keep_attributes",
    "lock_descriptor",
    "make_folder",
    "make_private_folder",
    "make_private_folders",
    "new_memory_file",
    "open_file_below",
    "open_null",
    "refusal_of_file",
    "replace_file",
    "state_folder",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.files import (
        UnusableFolderError,
        access_of_others,
        candidate_folders,
        check_folder,
        check_private,
        check_unshared,
        is_credential,
        is_own_file,
        keep_attributes,
        lock_descriptor,
        make_folder,
        make_private_folder,
        make_private_folders,
        new_memory_file,
        open_file_below,
        open_null,
        refusal_of_file,
        replace_file,
        state_folder,
    )
else:
    bind_port(globals(), f"{ADAPTER}.files")
