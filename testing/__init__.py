"""What users' own tests need."""
