"""What touches the world: sending a call, an undo, reading a turn; and classifying how a call failed."""
