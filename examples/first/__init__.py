"""What ``amends init`` writes: a small agent with one read, one write and its undo."""
