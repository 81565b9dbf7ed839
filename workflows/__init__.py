"""The session, the run and its rollback: deterministic workflow code, and nothing else."""
