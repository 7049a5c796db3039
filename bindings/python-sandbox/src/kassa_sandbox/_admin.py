"""The sandbox's admin interface: requests and responses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

from .errors import AdminRefused, NotRunning, SandboxError, UnknownPayment

PATIENCE = 30.0
"""The timeout of a response in seconds. It takes milliseconds; the rest is for an overloaded machine."""


class Admin:
    """Sends requests to a running sandbox, with one connection per request: safe from any thread, and in a forked process."""

    def __init__(self, url: str, token: str) -> None:
        address = urlsplit(url)
        self._host = address.hostname or ""
        self._port = address.port
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def request(
        self, method: str, path: str, body: Mapping[str, object] | None = None, **query: str | None
    ) -> dict[str, Any]:
        """Sends a request, and reads numbers exactly; raises an error if the sandbox refused it."""
        # pytest loads this package in every run of an environment that has it; most runs never send a request.
        from http.client import HTTPConnection, HTTPException

        asked = urlencode({name: value for name, value in query.items() if value is not None})
        target = f"/admin/{path}?{asked}" if asked else f"/admin/{path}"
        # It uses no proxy and follows no redirect.
        connection = HTTPConnection(self._host, self._port, timeout=PATIENCE)
        try:
            connection.request(method, target, None if body is None else json.dumps(body), self._headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, HTTPException) as error:
            raise NotRunning(f"the sandbox does not answer: {error}") from error
        finally:
            connection.close()
        if answer.status >= 400:
            raise refusal(answer.status, text)
        return read(text)


def read(text: str) -> dict[str, Any]:
    """An object in JSON, or nothing."""
    try:
        value: object = json.loads(text, parse_float=Decimal) if text else {}
    except ValueError:
        raise SandboxError(f"this is not the sandbox of this package: it said {text[:200]!r}") from None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def refusal(status: int, text: str) -> AdminRefused:
    """The sandbox's refusal, with its reason."""
    try:
        errors: list[dict[str, str]] = read(text).get("errors", [])
    except SandboxError:
        errors = []
    violations = tuple((error.get("field", ""), error.get("message", "")) for error in errors)
    detail = "; ".join(f"{field}: {message}" if field else message for field, message in violations)
    return AdminRefused(status, detail or f"the sandbox refused, HTTP {status}: {text[:200]}", violations)


def decide(admin: Admin, number: str, decision: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Acts as the payer."""
    try:
        return admin.request("POST", f"payments/{quote(number, safe='')}/{decision}", body)
    except AdminRefused as error:
        if error.http_status == 404:
            raise UnknownPayment(404, f"no payment has the number {number!r}") from None
        raise
