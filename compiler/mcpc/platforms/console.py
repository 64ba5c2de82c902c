"""Port: what ends the compiler, how it prints, and command lines for the user's shell."""

from typing import TYPE_CHECKING

from mcpc.platforms import PLATFORM
from mcpc_runtime.platforms import bind_port

__all__ = ["ENDING_SIGNALS", "quoted_word", "signal_main_thread", "start_of_file", "use_utf8", "write_within"]

if TYPE_CHECKING:
    from mcpc.platforms.posix.console import (
        ENDING_SIGNALS,
        quoted_word,
        signal_main_thread,
        start_of_file,
        use_utf8,
        write_within,
    )
else:
    bind_port(globals(), f"mcpc.platforms.{PLATFORM}.console")
