"""The shop's desk: an agent over a small SQLite shop that honours idempotency keys."""
