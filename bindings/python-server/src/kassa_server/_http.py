"""HTTP requests and responses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from .errors import NotRunning, Refused

PATIENCE = 90.0
"""Seconds that an answer may take: longer than the server itself waits for a change."""


def exchange(method: str, url: str, headers: Mapping[str, str], body: str | None = None) -> tuple[int, str, str]:
    """Sends a request; returns status, redirect URL, and text. It uses no proxy, and follows no redirect."""
    address = urlsplit(url)
    target = f"{address.path or '/'}?{address.query}" if address.query else address.path or "/"
    connection = HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)
    try:
        connection.request(method, target, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.getheader("location", ""), answer.read().decode()
    except (OSError, HTTPException) as error:
        raise NotRunning(f"{address.netloc} does not answer: {error}") from error
    finally:
        connection.close()


def request(
    method: str, url: str, headers: Mapping[str, str], body: Mapping[str, object] | None = None
) -> dict[str, Any]:
    """Sends a request to the server; raises `Refused` if it refuses."""
    text = None if body is None else json.dumps(body)
    status, _, answer = exchange(method, url, {"Content-Type": "application/json", **headers}, text)
    if status >= 400:
        raise refusal(status, answer)
    return cast("dict[str, Any]", json.loads(answer))


def submit(url: str, **fields: str) -> tuple[int, str, str]:
    """Submits a form, as a browser does."""
    return exchange("POST", url, {"Content-Type": "application/x-www-form-urlencoded"}, urlencode(fields))


def refusal(status: int, text: str) -> Refused:
    """The server's refusal, with its reason."""
    try:
        problem: dict[str, Any] = json.loads(text)
    except ValueError:
        return Refused(status, "", f"HTTP {status}: {text[:200]}")
    violations = tuple((each["field"], each["rule"]) for each in problem.get("violations", []))
    told = "; ".join(each["text"] for each in problem.get("violations", []))
    kind = str(problem.get("type", "")).rpartition(":")[2]
    return Refused(status, kind, told or str(problem.get("detail") or problem.get("title")), violations)
