"""The timeout of everything that the tests wait for."""

from __future__ import annotations

import os

PATIENCE = 60.0 * float(os.environ.get("KASSA_PATIENCE", "1"))
"""The upper bound of a wait, in seconds. ``KASSA_PATIENCE`` multiplies it on a slow machine."""
