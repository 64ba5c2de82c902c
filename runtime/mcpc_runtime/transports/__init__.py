"""Transports move bytes between a client and the driver: one file per transport; none knows a method or a tool."""
