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


def _is_no_time(problems: list[str]) -> list[str]:
    """Whoever gives a time that is not longer than zero is told at once, by the same error for each, before there is a
    setting or a policy that the core could refuse.
    """
    refused = any(".error.kind: " in problem and "came 'ValueError'" in problem for problem in problems)
    others = [problem for problem in problems if not problem.startswith("step 1 (")]
    return others if refused else [*problems, "no ValueError came"]


# The vectors that cannot be said, and what is checked instead, given what was found.
INSTEAD = {
    'get-status: another provider, "mbank", is refused': _is_a_known_provider,
    "configuration: a connect timeout of zero is refused": _is_no_time,
    "configuration: a payment deadline of zero is refused": _is_no_time,
    "configuration: a query deadline of zero is refused": _is_no_time,
    "deadline: zero is refused, for a payment": _is_no_time,
    "deadline: zero is refused, for a watch": _is_no_time,
    "journal: a policy of zeros is refused": _is_no_time,
    "watch: with no deadline is refused": _is_no_time,
    "watch: with no interval is refused": _is_no_time,
}
