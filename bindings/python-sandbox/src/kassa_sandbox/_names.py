# Generated from sandbox/data/test_data.json. Change that, and then:
# cargo test -p kassa-conformance --test tables -- --generate
"""The names of faults and dialects."""

from __future__ import annotations

from typing import Literal, TypeAlias

FaultName: TypeAlias = Literal[
    # The connection is closed before the request takes effect; no money moves.
    "request-lost",
    # The request takes effect, and the connection is closed without a response.
    "response-lost",
    # The request takes effect immediately, and the response is delayed by `delay`, by default one second.
    "delay",
    # The request takes effect, and the response body arrives at one byte per second.
    "drip",
    # The connection is reset after the first line of its first request, if that request is for one of the gateway's
    # endpoints; no money moves.
    "reset-on-connect",
    # The request takes effect, and the connection is reset before the first byte of the response.
    "reset-before-response",
    # The request takes effect, and the connection is reset in the middle of the response headers.
    "reset-in-headers",
    # The request takes effect, and the connection is reset in the middle of the response body.
    "reset-in-body",
    # The request takes effect, and the response is an HTML page with HTTP 502.
    "html-502",
    # The request takes effect, and the response body is not JSON.
    "not-json",
    # The request takes effect, and the response body is truncated, with a length that matches the truncated body.
    "cut-json",
    # The request takes effect, and the response body never ends.
    "endless-body",
    # The status word of the response is replaced by `status`, by default `ON_HOLD`. Responses without a status word are
    # unchanged.
    "unknown-status",
    # The code of the response is replaced by `code`, by default `999`. Responses without an envelope are unchanged.
    "unknown-code",
    # The response uses the sandbox's other dialect.
    "other-dialect",
    # The payment becomes `PENDING` instead of final, until it is decided by `approve` or `decline`, or becomes final
    # automatically if the clock is set to do so.
    "stuck-pending",
    # The request takes effect, and the response is a redirect (307) to the same endpoint: a client that follows it
    # sends the payment twice.
    "redirect",
    # HTTP 429 with `Retry-After` set to `retry_after`, by default one second. The request has no effect.
    "retry-after",
    # HTTP 503, with `Retry-After` if `retry_after` is given. The request has no effect.
    "unavailable",
    # HTTP 401, regardless of the credentials. The request has no effect.
    "unauthorized",
    # The callback is never sent.
    "callback-lost",
    # The callback is delayed by `delay`, by default one second.
    "callback-late",
    # The callback is delivered twice.
    "callback-duplicated",
    # A callback for a status that is not final is held back until the payment's next callback has been delivered.
    "callback-out-of-order",
    # An additional callback with a different amount and the status `CHARGE`, although nobody paid.
    "callback-forged",
    # The confirmation is executed twice concurrently; if one of the two is refused, the response is that refusal.
    "otp-twice",
]
"""Each fault there is; `kassa_sandbox.Faults` says what it does."""

DialectName: TypeAlias = Literal[
    # The responses of the gateway's interface.
    "interface",
    # Responses in another format, to test a client's configuration.
    "other",
    # The responses that FINIPAY's public pages show.
    "finipay",
]
"""Which gateway's responses the sandbox gives."""
