"""The commands of ``amends``: data to stdout, everything else to stderr. ``main`` is the entry point (SPEC 12.2)."""
