"""What authors use while they write: development server, tests, language server, documentation, doctor."""
