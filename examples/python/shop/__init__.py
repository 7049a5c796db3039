"""A small web shop that takes payments with `kassa`."""
