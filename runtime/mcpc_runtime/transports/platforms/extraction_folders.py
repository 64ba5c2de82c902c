"""Port: folders below which the author's files may be extracted."""

from mcpc_runtime.transports.platforms import ADAPTER, bind_port

__all__ = ["candidate_folders", "check_folder", "make_folder"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.transports.platforms.posix.extraction_folders import candidate_folders, check_folder, make_folder
else:
    bind_port(globals(), f"{ADAPTER}.extraction_folders")
