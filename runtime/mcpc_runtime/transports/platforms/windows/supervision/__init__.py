"""Who owns the processes of handlers: jobs, which the system ends when the server ends, however it ends."""
