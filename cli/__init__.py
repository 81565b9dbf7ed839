"""The `amends` command."""
