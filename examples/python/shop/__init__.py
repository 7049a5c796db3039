"""A small web shop that takes payments by kassa-server."""
