"""What JSON Schema cannot say of the sandbox's requests, said to schemathesis."""

from __future__ import annotations

from typing import cast

import schemathesis
from hypothesis import strategies as st
from schemathesis import HookContext

APPROVED_CARD = "4111111111111111"
ERRING_CARD = "4000000000002057"  # answered with HTTP 500 on purpose; any other 500 is a finding

_WORDS = st.text("abc-1", max_size=6)
_HOSTS = st.sampled_from(["127.0.0.1:1", "[::1]:1"])  # nobody listens there: the callbacks go nowhere

schemathesis.openapi.format(
    "url", st.builds("{}://{}/{}?a={}".format, st.sampled_from(["http", "HTTPS"]), _HOSTS, _WORDS, _WORDS)
)


def map_body(_context: HookContext, body: object) -> object:
    """Changes what is well formed and still answered otherwise than with success."""
    if isinstance(body, dict):
        members = cast("dict[str, object]", body)
        return {name: _usable(value) for name, value in members.items()}
    return body


def _usable(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)  # to JSON Schema 1.0 is an integer, to the gateway's interface it is none
    return APPROVED_CARD if value == ERRING_CARD else value


schemathesis.hook(map_body)  # pyright: ignore[reportUnknownMemberType] - its own types are not complete
