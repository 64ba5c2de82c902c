"""The protocol without IO: bytes and outcomes in, effects out; no clock, thread, socket, process or file."""
