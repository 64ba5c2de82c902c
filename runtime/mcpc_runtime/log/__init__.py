"""What a server tells its operator."""
