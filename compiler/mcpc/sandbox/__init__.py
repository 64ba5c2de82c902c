"""Programs of others: confined in separate processes, by ports of each operating system."""
