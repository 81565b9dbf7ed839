"""The words everyone shares: frozen models, canonical JSON, keys, names and errors. Imports nothing of ours."""
