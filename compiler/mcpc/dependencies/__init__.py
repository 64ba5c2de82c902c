"""What a project needs from elsewhere: which packages, where they come from, and how they go into an artifact."""
