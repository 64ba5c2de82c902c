"""Port: input that is empty."""

from mcpc_runtime.platforms.posix.null_device import open_null

__all__ = ["open_null"]
