"""What a payer reads beside a state."""

from dataclasses import dataclass
from enum import Enum

from .. import _check
from .._calls import call
from .._convert import lower, mirrors, mirrors_enum
from .._generated import native
from ..violations import Language


@mirrors_enum(native.MessageTopic)
class MessageTopic(Enum):
    """What a message is about."""

    NO_NETWORK = "no_network"
    """The server is not reached. It is tried again by itself, and nothing is lost."""
    SERVER_BUSY = "server_busy"
    """The server asked to wait, or failed. It is tried again by itself."""
    NOT_THE_SERVER = "not_the_server"
    """What answered is not the merchant's server: the page of a network that wants a login, a wrong address, a certificate that
    fails. It is tried again by itself."""
    WRONG_CLOCK = "wrong_clock"
    """The certificate of the server is not valid yet by this device's clock: the payer checks its date and time. It is tried
    again by itself."""
    TOKEN_NOT_RENEWED = "token_not_renewed"  # noqa: S105 (a name)
    """The app's own function gave no new client token. It is asked again by itself."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """Nobody knows yet what became of the payment: the gateway is asked all the time. **The payer must not pay again.**"""
    CODE_REFUSED = "code_refused"
    """The gateway did not take the one-time password."""
    CODE_NOT_SENT = "code_not_sent"
    """The one-time password did not reach the gateway: the payer enters it again."""
    REFUSED = "refused"
    """The gateway refused to make the payment: no money moved."""
    NOT_MADE = "not_made"
    """The payment was not made: no money moved, and the payer can try again."""
    REJECTED = "rejected"
    """The gateway reported that the payment was rejected: no money moved."""
    INPUT_REFUSED = "input_refused"
    """The server refused what was typed; the reason says which rule it breaks."""
    TOO_MANY_TRIES = "too_many_tries"
    """So many tries are not allowed."""
    CHANGE_REFUSED = "change_refused"
    """The server began no other payment instead of the one that was open: that one has gone on, was replaced elsewhere already,
    or too many were replaced. The state shows how it stands now."""
    MISMATCH = "mismatch"
    """The gateway reports something else than was asked for: a person of the merchant's finds out."""
    CANCELLED = "cancelled"
    """The shop cancelled it."""

    def __str__(self) -> str:
        return self.value


@mirrors(native.CheckoutMessage)
@dataclass(frozen=True, slots=True)
class CheckoutMessage:
    """What a payer reads beside a state, in their language."""

    topic: MessageTopic
    """What it is about."""
    reason: str | None = None
    """More words, as they came, in any language: of the gateway, which refused; of the server, which says what is wrong. What
    is in the way of reaching the server is told for developers, and is not for a payer to read."""

    def text_in(self, language: Language) -> str:
        """What it says to the payer, in a language. The reason is not part of it.

        >>> CheckoutMessage(MessageTopic.CODE_REFUSED).text_in(Language.ENGLISH)
        'This code was not accepted. Enter it again.'
        """
        text: str = call(lower(self).text_in, _check.instance("language", language, Language))
        return text
