"""The pytest plugin: installed with the package, and found by pytest itself.

It gives the fixture ``kassa_fake_gateway``. Those of a whole gateway and of a server are in the packages ``kassa-sandbox``
and ``kassa-server``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .testing import FakeGateway


@pytest.fixture
def kassa_fake_gateway() -> FakeGateway:
    """An in-memory gateway without payments, on a virtual clock."""
    # Loaded in every run of an environment that has it: the native library is not needed in most of them.
    from .testing import FakeGateway

    return FakeGateway()
