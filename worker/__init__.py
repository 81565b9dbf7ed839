"""The wiring of one worker, its settings, and the Temporal plugin."""
