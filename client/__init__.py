"""`Agent` and `AsyncAgent`: starting turns, waiting, answering; and the embedded server."""
