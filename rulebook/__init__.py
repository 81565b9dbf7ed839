"""Rules and the pure check that decides allow, confirm or refuse before every call."""
