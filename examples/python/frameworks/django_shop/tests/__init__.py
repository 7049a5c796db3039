"""Tests of the shop, for ``python -m django test``."""
