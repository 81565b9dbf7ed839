"""The HTTP API ``/v1`` and the web console: what people ask, answer and look at (SPEC 12.3)."""
