"""What runs in the process of a project during a build, beside the project's code; no server contains it."""
