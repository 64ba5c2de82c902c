"""The server: a driver moves messages between a transport and sessions, and the dispatcher runs calls."""
