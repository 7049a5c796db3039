"""Errors, told apart by what the caller can do next."""

from datetime import timedelta
from inspect import signature
from typing import Any, ClassVar, TypeVar

from . import _check
from ._convert import lower, mirror_fields
from ._generated import native
from .payments import PaymentRef, StatusReport
from .violations import Violation

E = TypeVar("E", bound="PaymentError")


class PaymentError(Exception):
    """Why a call gave no answer, told by **what it did to the money** and what to do next.

    Only `OutcomeUnknown` means that this call may have moved money; every other error says that it did not. No error ever
    holds a card number, a CVC, a one-time password or a password: where the gateway echoes one in its reply, it is masked.

    ``str(error)`` says what happened and what to do. Errors can be pickled, and matched on:
    ``case kassa.Refused(code="51")``.
    """

    _names: ClassVar[tuple[str, ...]] = ()

    http_status: int | None = None
    """The HTTP status of the reply, where one came."""
    code: str | None = None
    """The gateway's code, where a reply had one."""
    body: str | None = None
    """The body of the reply where one came, with secrets masked."""

    def __init_subclass__(cls) -> None:
        # Each mirrors the core's error of its name, by the parameters it is made with.
        native_kind = getattr(native.PaymentError, cls.__name__, None)
        if cls.__module__ == __name__ and native_kind is not None:
            cls._names = tuple(signature(cls.__init__).parameters)[1:]
            mirror_fields(native_kind, cls, list(cls._names))

    def __new__(cls: type[E], *_: Any, **__: Any) -> E:
        if cls is PaymentError:
            raise TypeError("PaymentError is only a base; make one of the errors under it")
        # Without its arguments: they are attributes here, and nothing is to print them by itself.
        return Exception.__new__(cls)

    @property
    def payment_may_exist(self) -> bool:
        """True where **this call** may have moved money: for `OutcomeUnknown` alone. Never send such a payment again."""
        may: bool = lower(self).payment_may_exist()
        return may

    @property
    def is_retryable(self) -> bool:
        """True where the same call may simply be made again, later: for `Unavailable` alone."""
        may: bool = lower(self).is_retryable()
        return may

    @property
    def kind(self) -> str:
        """The error's name, the same in every language: ``"Refused"``, say. For logs."""
        kind: str = lower(self).kind()
        return kind

    def describe(self) -> str:
        """What happened, and what to do, in one English sentence or two. The same as ``str(error)``."""
        text: str = lower(self).describe()
        return text

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names)
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _blank, (type(self),), self.__dict__.copy()


def _blank(kind: type[PaymentError]) -> PaymentError:
    """An error whose attributes come afterwards, by pickle."""
    return kind.__new__(kind)


class Invalid(PaymentError):
    """The input breaks rules. **Nothing was sent.** Fix the named fields: all violations are there at once."""

    __match_args__ = ("violations",)

    def __init__(self, violations: tuple[Violation, ...]) -> None:
        self.violations = tuple(violations)
        """Every rule that is broken, in the order of the interface's table."""


class Misconfigured(PaymentError):
    """The configuration is wrong: **nothing happened.** A bad setting, a certificate that fails, or an address that is not
    the gateway (404, 405 or 407 without the gateway's envelope)."""

    __match_args__ = ("detail",)

    def __init__(
        self, detail: str, http_status: int | None = None, code: str | None = None, body: str | None = None
    ) -> None:
        self.detail = detail
        """What is wrong."""
        self.http_status = http_status
        self.code = code
        self.body = body


class Unauthorized(PaymentError):
    """The gateway did not accept the credentials (401, or 403 with the gateway's envelope): **nothing happened.**"""

    __match_args__ = ("detail",)

    def __init__(self, detail: str, http_status: int = 401, code: str | None = None, body: str = "") -> None:
        self.detail = detail
        """What the gateway said."""
        self.http_status = http_status
        self.code = code
        self.body = body


class Unavailable(PaymentError):
    """**Nothing happened, try again**: no connection was made, the gateway asked to wait (429), or a request that moves no
    money failed on the way."""

    __match_args__ = ("detail",)

    def __init__(
        self,
        detail: str,
        retry_after: timedelta | float | None = None,
        http_status: int | None = None,
        code: str | None = None,
        body: str | None = None,
    ) -> None:
        self.detail = detail
        """What went wrong."""
        self.retry_after = _check.optional_duration("retry_after", retry_after)
        """The gateway's ``Retry-After``, capped at one minute. ``None`` where it sent none."""
        self.http_status = http_status
        self.code = code
        self.body = body


class Refused(PaymentError):
    """The gateway said no: **nothing happened.** Tell the payer."""

    __match_args__ = ("code",)

    def __init__(self, http_status: int, code: str | None = None, reason: str | None = None, body: str = "") -> None:
        self.http_status = http_status
        self.code = code
        self.reason = reason
        """The gateway's own words, where there are any."""
        self.body = body


class OutcomeUnknown(PaymentError):
    """**The payment may have happened**: it was sent, and no verdict that can be trusted came back.

    Watch `payment` (``gateway.watch(error.payment)``); never send it again.
    """

    __match_args__ = ("payment",)

    def __init__(
        self,
        payment: PaymentRef,
        detail: str,
        http_status: int | None = None,
        code: str | None = None,
        reason: str | None = None,
        body: str | None = None,
    ) -> None:
        self.payment = payment
        """What to ask about the payment with."""
        self.detail = detail
        """Why the outcome is unknown."""
        self.http_status = http_status
        self.code = code
        self.reason = reason
        """The gateway's own words, where a reply had any."""
        self.body = body


class Unexpected(PaymentError):
    """The answer of a request that moves no money could not be understood: **nothing happened.**"""

    __match_args__ = ("detail",)

    def __init__(self, detail: str, http_status: int = 200, code: str | None = None, body: str = "") -> None:
        self.detail = detail
        """What could not be understood."""
        self.http_status = http_status
        self.code = code
        self.body = body


class DeadlineExpired(PaymentError):
    """A watch reached its deadline while the payment was still open. Keep watching, or let a person decide."""

    __match_args__ = ("last",)

    def __init__(self, last: StatusReport | None = None) -> None:
        self.last = last
        """The last status that was seen, where there was one."""
