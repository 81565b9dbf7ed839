"""`@tool`, the registry of an agent file, and the sources tools come from."""
