"""Running commands: one file a way; none knows the protocol.  `mcpc_runtime.commands` says what a runner does."""
