"""The C part of `signal`, which costs nothing to import; signals are plain numbers in it."""

import sys
from signal import set_wakeup_fd as set_wakeup_fd
from signal import signal as signal
from signal import valid_signals as valid_signals

if sys.platform != "win32":
    from signal import pthread_sigmask as pthread_sigmask

SIG_BLOCK: int
SIG_DFL: int
SIG_IGN: int
SIG_SETMASK: int
SIGALRM: int
SIGCHLD: int
SIGCONT: int
SIGHUP: int
SIGINT: int
SIGKILL: int
SIGPIPE: int
SIGSTOP: int
SIGTERM: int
