# Generated from sandbox/data/test_data.json. Change that, and then:
# cargo test -p kassa-conformance --test tables -- --generate
"""The names of faults and dialects."""

from __future__ import annotations

from typing import Literal, TypeAlias

FaultName: TypeAlias = Literal[
    # The connection is closed before the request takes effect; nothing happens to the money.
    "request-lost",
    # The request takes effect, and the connection is closed without an answer.
    "response-lost",
    # The request takes effect at once, and is answered late: by `delay`, a second unless given.
    "delay",
    # The request takes effect, and the answer's body comes a byte a second.
    "drip",
    # The connection is reset on the first line of its first request, where that goes to one of the nine endpoints;
    # nothing happens to the money.
    "reset-on-connect",
    # The request takes effect, and the connection is reset before the answer's first byte.
    "reset-before-response",
    # The request takes effect, and the connection is reset in the middle of the answer's head.
    "reset-in-headers",
    # The request takes effect, and the connection is reset in the middle of the answer's body.
    "reset-in-body",
    # The request takes effect, and an HTML page with HTTP 502 comes back.
    "html-502",
    # The request takes effect, and the answer's body is no JSON.
    "not-json",
    # The request takes effect, and the answer's body ends in its middle, under a length that says so.
    "cut-json",
    # The request takes effect, and the answer's body has no end.
    "endless-body",
    # The answer's status word is another one: `status`, `ON_HOLD` unless given. Answers without a status word are left
    # alone.
    "unknown-status",
    # The answer's code is another one: `code`, `999` unless given. Answers without an envelope are left alone.
    "unknown-code",
    # The answer is written in the sandbox's other dialect.
    "other-dialect",
    # The payment becomes `PENDING` instead of final, until it is decided by `approve` or `decline`, or resolves by
    # itself where the clock is set to that.
    "stuck-pending",
    # The request takes effect, and is answered with a redirect (307) to the same endpoint: who follows it sends the
    # payment twice.
    "redirect",
    # HTTP 429 with `Retry-After`: `retry_after`, a second unless given. Nothing takes effect.
    "retry-after",
    # HTTP 503, with `Retry-After` where `retry_after` is given. Nothing takes effect.
    "unavailable",
    # HTTP 401, whatever the credentials. Nothing takes effect.
    "unauthorized",
    # The callback is never sent.
    "callback-lost",
    # The callback is sent late: by `delay`, a second unless given.
    "callback-late",
    # The callback is delivered twice.
    "callback-duplicated",
    # A callback of a status that is not final is held back until the payment's next one was delivered.
    "callback-out-of-order",
    # One more callback, with another amount and the status `CHARGE`, for money that nobody paid.
    "callback-forged",
    # The confirmation is carried out twice at once; where one of the two was refused, that is the answer.
    "otp-twice",
]
"""Each fault there is; `kassa_sandbox.Faults` says what it does."""

DialectName: TypeAlias = Literal[
    # Those of the gateway's interface.
    "interface",
    # Others, for tests of a client's configuration.
    "other",
    # Those that the public pages of the gateway FINIPAY show.
    "finipay",
]
"""Which gateway's responses the sandbox gives."""
