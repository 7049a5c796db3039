"""Plain HTTP, for what no browser does: the same form twice at once, and callbacks that nobody sent."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url: str) -> str:
    """A page, after whatever redirects lead to it."""
    with DIRECT.open(url) as answer:
        return str(answer.read().decode())


def post(url: str, body: bytes) -> int:
    """The status at the end of whatever redirects follow."""
    try:
        with DIRECT.open(url, body) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def post_form_at_once(times: int, url: str, **fields: str) -> list[int]:
    """The same form, several times at once."""
    body = urllib.parse.urlencode(fields).encode()
    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(post, [url] * times, [body] * times))


def callback(number: str, provider: str, amount: str = "390.00", status: str = "CHARGE") -> bytes:
    """The body of a callback."""
    body = {"orderNumber": number, "currency": "KGS", "status": status, "provider": provider}
    text = json.dumps(body | {"dateCreated": "2026-11-20T09:05:07"})
    return (text[:-1] + f', "amount": {amount}}}').encode()
