"""The adapter for Windows: a job object, which a confined process cannot leave."""
