"""What tests of every folder share: builds, servers and their clients, projects, and what the machine must have."""
