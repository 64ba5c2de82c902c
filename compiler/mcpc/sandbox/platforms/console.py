"""Port: what ends the compiler, how it prints, and command lines for the user's shell."""

from typing import TYPE_CHECKING

from mcpc.sandbox.platforms import PLATFORM
from mcpc_runtime.transports.platforms import bind_port

__all__ = ["ENDING_SIGNALS", "quoted_word", "signal_main_thread", "start_of_file", "use_utf8", "write_within"]

if TYPE_CHECKING:
    from mcpc.sandbox.platforms.posix.console import (
        ENDING_SIGNALS,
        quoted_word,
        signal_main_thread,
        start_of_file,
        use_utf8,
        write_within,
    )
else:
    bind_port(globals(), f"mcpc.sandbox.platforms.{PLATFORM}.console")
