"""What leaves: locks, comparison with the last release, scan, trust, carriers and exports."""
