"""What browsers and the server send."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

MOST_BYTES = 64 * 1024
"""More than any form or event has."""


async def read_body(request: Request) -> bytes:
    """A body, up to the limit."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413)
    return body


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a posted form, without the blanks around them."""
    try:
        fields = parse_qsl((await read_body(request)).decode(), max_num_fields=50)
    except ValueError:
        raise HTTPException(400) from None
    return {name: text.strip() for name, text in fields}
