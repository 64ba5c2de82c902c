"""Moving bytes between a client and the engine: one file a transport; none knows a method or a tool."""
