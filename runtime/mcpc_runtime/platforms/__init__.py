"""What a server asks the operating system for beyond the standard library's modules."""
