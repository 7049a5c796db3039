"""A shop on Flask."""
