"""Examples that ship with the package."""
