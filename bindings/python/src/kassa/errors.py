"""Errors, by what the caller can do next."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, ClassVar, TypeVar

from . import _check
from ._codec import variant
from ._core import method
from .payments import PaymentRef, StatusReport
from .violations import Violation


class PaymentError(Exception):
    """Why a call failed: **what happened to the money**, and what to do next.

    Only `OutcomeUnknown` means that this call may have moved money; every other error says that it did not. No error ever
    holds a card number, a CVC, a one-time password or a password: if the gateway echoes one in its response, it is masked.

    ``str(error)`` says what happened and what to do, and ``error.args`` holds only that text. Errors can be pickled and
    matched: ``case kassa.Refused(code="51")``.

    Serializers that keep only the class of an error and its ``args`` (Celery's JSON results, for example) restore it from its
    text: ``type(error)(*error.args)``. Such an error has the same text and knows what happened to the money. It has the
    fields that are in the text: a ``detail``, and the ``payment`` of an `OutcomeUnknown`. The others are None or empty, and
    an `OutcomeUnknown` whose text does not name its payment lacks that attribute.
    """

    # The name of the core's error that it is.
    _kind: ClassVar[str | None] = None
    _names: ClassVar[tuple[str, ...]] = ()
    _text: str | None = None

    http_status: int | None = None
    """The HTTP status of the response, if there was one."""
    code: str | None = None
    """The gateway's code, if the response had one."""
    body: str | None = None
    """The body of the response, if there was one, with secrets masked."""

    def __init__(self, text: str) -> None:
        """An error of an unknown kind, for a subclass of your own. Nothing is known about the money then, so it says that the
        payment may exist."""
        super().__init__(_check.text("text", text))

    def __init_subclass__(cls) -> None:
        # Each is the core's error of its name, and made with its fields.
        if cls.__module__ != __name__:
            return
        init: Any = cls.__init__
        cls._kind = cls.__name__
        code = init.__code__
        cls._names = code.co_varnames[1 : code.co_argcount]
        variant(f"PaymentError.{cls.__name__}")(cls)

        @wraps(init)
        def from_fields_or_text(self: PaymentError, *given: Any, **named: Any) -> None:
            if len(given) != 1 or named or not isinstance(given[0], str):
                init(self, *given, **named)
            elif cls._names[0] == "detail":
                self._begin_with_detail(init, given[0])
            else:
                self._text = given[0]
                self._read(given[0])
            # Not by `__str__`: a subclass may override it and need attributes that are not set yet.
            self.args = (PaymentError.describe(self),)

        type.__setattr__(cls, "__init__", from_fields_or_text)

    def _begin_with_detail(self, init: Callable[..., None], text: str) -> None:
        """A text alone is the detail of a new error, unless it is all that an earlier one said."""
        init(self, "\n")
        beginning, _, end = PaymentError.describe(self).partition("\n")
        if not text.startswith(beginning):
            init(self, text)
            return
        init(self, text.removeprefix(beginning).removesuffix(end))
        self.http_status = self.code = self.body = None
        self._text = text

    def _read(self, _text: str, /) -> None:
        """Fills in the fields of an error that is made again by its text."""

    @property
    def _is_whole(self) -> bool:
        """Whether it has the fields of one of the core's errors."""
        return self._kind is not None and self._text is None

    @property
    def payment_may_exist(self) -> bool:
        """True if **this call** may have moved money: only for `OutcomeUnknown`. Never send such a payment again."""
        if not self._is_whole:
            return self._kind is None or isinstance(self, OutcomeUnknown)
        may: bool = method("PaymentError.payment_may_exist", self)
        return may

    @property
    def is_retryable(self) -> bool:
        """True if you can repeat the same call later: only for `Unavailable`."""
        if not self._is_whole:
            return isinstance(self, Unavailable)
        may: bool = method("PaymentError.is_retryable", self)
        return may

    @property
    def kind(self) -> str:
        """The error's name for logs, the same in every language, such as ``"Refused"``."""
        return next(kind.__name__ for kind in type(self).__mro__ if "_kind" in vars(kind))

    def describe(self) -> str:
        """What happened and what to do, in one or two English sentences. The same as ``str(error)``."""
        if self._text is not None:
            return self._text
        if self._kind is None:
            return super().__str__()
        text: str = method("PaymentError.describe", self)
        return text

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        if not self._is_whole:
            return f"{type(self).__name__}({PaymentError.describe(self)!r})"
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names)
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _blank, (type(self), *self.args), self.__dict__.copy()


# After the class: a bound by its name would be compiled.
E = TypeVar("E", bound=PaymentError)


def _blank(kind: type[E], *args: Any) -> E:
    """An error whose attributes come afterwards, by pickle."""
    return Exception.__new__(kind, *args)


class Invalid(PaymentError):
    """The input breaks rules. **Nothing was sent.** Fix the named fields; the error has all violations."""

    __match_args__ = ("violations",)

    def __init__(self, violations: tuple[Violation, ...]) -> None:
        self.violations: tuple[Violation, ...] = _check.instances("violations", violations, Violation)
        """Every rule that is broken, in the order of the interface's table."""

    def _read(self, _text: str, /) -> None:
        self.violations = ()


class Misconfigured(PaymentError):
    """The configuration is wrong: **nothing happened.** A bad setting, a bad certificate, or an address that is not the
    gateway's (404, 405 or 407 without the gateway's envelope)."""

    __match_args__ = ("detail",)

    def __init__(
        self, detail: str, http_status: int | None = None, code: str | None = None, body: str | None = None
    ) -> None:
        self.detail: str = _check.text("detail", detail)
        """What is wrong."""
        self.http_status: int | None = _check.optional_http_status(http_status)
        self.code: str | None = _check.optional_text("code", code)
        self.body: str | None = _check.optional_text("body", body)


class Unauthorized(PaymentError):
    """The gateway did not accept the credentials (401, or 403 with the gateway's envelope): **nothing happened.**"""

    __match_args__ = ("detail",)

    def __init__(self, detail: str, http_status: int = 401, code: str | None = None, body: str = "") -> None:
        self.detail: str = _check.text("detail", detail)
        """The gateway's message."""
        self.http_status: int | None = _check.http_status(http_status)
        self.code: str | None = _check.optional_text("code", code)
        self.body: str | None = _check.text("body", body)


class Unavailable(PaymentError):
    """**Nothing happened, try again**: no connection was made, the gateway asked to wait (429), or a request that moves no
    money failed in transit."""

    __match_args__ = ("detail",)

    def __init__(
        self,
        detail: str,
        retry_after: timedelta | float | None = None,
        http_status: int | None = None,
        code: str | None = None,
        body: str | None = None,
    ) -> None:
        self.detail: str = _check.text("detail", detail)
        """What went wrong."""
        self.retry_after: timedelta | None = _check.optional_duration("retry_after", retry_after)
        """The gateway's ``Retry-After``, capped at one minute. ``None`` if it sent none."""
        self.http_status: int | None = _check.optional_http_status(http_status)
        self.code: str | None = _check.optional_text("code", code)
        self.body: str | None = _check.optional_text("body", body)


class Refused(PaymentError):
    """The gateway refused: **nothing happened.** Tell the payer."""

    __match_args__ = ("code",)

    def __init__(self, http_status: int, code: str | None = None, reason: str | None = None, body: str = "") -> None:
        self.http_status: int | None = _check.http_status(http_status)
        self.code: str | None = _check.optional_text("code", code)
        self.reason: str | None = _check.optional_text("reason", reason)
        """The gateway's message, if any."""
        self.body: str | None = _check.text("body", body)

    def _read(self, _text: str, /) -> None:
        self.reason = None


class OutcomeUnknown(PaymentError):
    """**The payment may have happened**: it was sent, and no trustworthy response arrived.

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
        self.payment: PaymentRef = _check.instance("payment", payment, PaymentRef)
        """The payment reference, for status queries."""
        self.detail: str = _check.text("detail", detail)
        """Why the outcome is unknown."""
        self.http_status: int | None = _check.optional_http_status(http_status)
        self.code: str | None = _check.optional_text("code", code)
        self.reason: str | None = _check.optional_text("reason", reason)
        """The gateway's message, if the response had one."""
        self.body: str | None = _check.optional_text("body", body)

    def _read(self, text: str, /) -> None:
        self.detail, self.reason = text, None
        try:
            payment = PaymentRef.parse(text.removeprefix("The outcome of ").partition(" ")[0])
        except (PaymentError, ValueError):
            return
        self.payment = payment


class Unexpected(PaymentError):
    """The response to a request that moves no money could not be understood: **nothing happened.**"""

    __match_args__ = ("detail",)

    def __init__(self, detail: str, http_status: int = 200, code: str | None = None, body: str = "") -> None:
        self.detail: str = _check.text("detail", detail)
        """What could not be understood."""
        self.http_status: int | None = _check.http_status(http_status)
        self.code: str | None = _check.optional_text("code", code)
        self.body: str | None = _check.text("body", body)


class DeadlineExpired(PaymentError):
    """A watch reached its deadline while the payment was still pending. Watch it again, or let a person decide."""

    __match_args__ = ("last",)

    def __init__(self, last: StatusReport | None = None) -> None:
        self.last: StatusReport | None = _check.optional_instance("last", last, StatusReport)
        """The last status, if any."""

    def _read(self, _text: str, /) -> None:
        self.last = None
