"""Messages for the payer, shown next to a state."""

from enum import Enum

from .. import _check
from .._codec import flat_enum, record
from .._core import method
from .._dataclass import dataclass
from ..violations import Language


@flat_enum("MessageTopic")
class MessageTopic(Enum):
    """The topic of a message."""

    NO_NETWORK = "no_network"
    """The server is not reachable. It is retried automatically, and nothing is lost."""
    SERVER_BUSY = "server_busy"
    """The server asked to wait, or failed. It is retried automatically."""
    NOT_THE_SERVER = "not_the_server"
    """The response did not come from the merchant's server: a captive portal, a wrong address, or a bad certificate. It is
    retried automatically."""
    WRONG_CLOCK = "wrong_clock"
    """The server's certificate is not valid yet by this device's clock: the payer should check its date and time. It is
    retried automatically."""
    TOKEN_NOT_RENEWED = "token_not_renewed"  # noqa: S105 (a name)
    """The app's renewal function returned no new client token. It is called again automatically."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """The outcome of the payment is unknown; the gateway is polled. **The payer must not pay again.**"""
    CODE_REFUSED = "code_refused"
    """The gateway did not accept the one-time password."""
    CODE_NOT_SENT = "code_not_sent"
    """The one-time password did not reach the gateway: the payer should enter it again."""
    REFUSED = "refused"
    """The gateway refused to make the payment: no money moved."""
    NOT_MADE = "not_made"
    """The payment was not made: no money moved, and the payer can try again."""
    REJECTED = "rejected"
    """The gateway reported that the payment was rejected: no money moved."""
    INPUT_REFUSED = "input_refused"
    """The server refused the input; `CheckoutMessage.reason` names the rule for developers."""
    TOO_MANY_TRIES = "too_many_tries"
    """Too many attempts."""
    CHANGE_REFUSED = "change_refused"
    """The server did not replace the open payment: it has moved on, was already replaced elsewhere, or too many were
    replaced. The state shows the current status."""
    MISMATCH = "mismatch"
    """The gateway's report does not match the request: the merchant's staff decide."""
    CANCELLED = "cancelled"
    """The shop cancelled it."""

    def __str__(self) -> str:
        return self.value


@flat_enum("DeclineReason")
class DeclineReason(Enum):
    """Why the gateway declined a payment or a code: found by the server's dialect, and only for the text that the payer
    reads."""

    INSUFFICIENT_FUNDS = "insufficient_funds"
    """The payer has not enough money."""
    LIMIT_EXCEEDED = "limit_exceeded"
    """The amount exceeds a limit of the payer's card, account or wallet."""
    WRONG_CODE = "wrong_code"
    """The one-time password or PIN was wrong."""
    CODE_EXPIRED = "code_expired"
    """The one-time password or PIN has expired."""
    UNKNOWN_PAYER = "unknown_payer"
    """The bank has no account, wallet or card like the payer's."""
    DECLINED_BY_BANK = "declined_by_bank"
    """The payer's bank declined, without a reason."""

    def __str__(self) -> str:
        return self.value


@record("CheckoutMessage")
@dataclass(frozen=True, slots=True)
class CheckoutMessage:
    """A message for the payer, shown next to a state, in their language."""

    topic: MessageTopic
    """The topic."""
    reason: str | None = None
    """Details for developers and logs, in any language: the server's explanation, or what is in the way of reaching it. **Never
    show it to the payer.**"""
    decline: DeclineReason | None = None
    """Why the gateway declined the payment or the code, if that is known; `reason_in` is the sentence for the payer."""

    def text_in(self, language: Language) -> str:
        """The message text in a language, without `reason_in`.

        >>> CheckoutMessage(MessageTopic.CODE_REFUSED).text_in(Language.ENGLISH)
        'This code was not accepted. Enter it again.'
        """
        text: str = method("CheckoutMessage.text_in", self, _check.instance("language", language, Language))
        return text

    def reason_in(self, language: Language) -> str | None:
        """Why the gateway declined, as a sentence in a language; `None` if that is not known.

        >>> CheckoutMessage(MessageTopic.REJECTED, decline=DeclineReason.CODE_EXPIRED).reason_in(Language.ENGLISH)
        'The code has expired.'
        """
        reason: str | None = method("CheckoutMessage.reason_in", self, _check.instance("language", language, Language))
        return reason
