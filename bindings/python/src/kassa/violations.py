"""Violations of the input rules, and advice."""

from enum import Enum

from . import _check
from ._codec import flat_enum, record
from ._core import method, native
from ._dataclass import dataclass


@flat_enum("Language")
class Language(Enum):
    """A language of violations, advice and a checkout's messages. As text it is its tag."""

    ENGLISH = "en"
    """English."""
    RUSSIAN = "ru"
    """Russian."""
    KYRGYZ = "ky"
    """Kyrgyz."""

    @classmethod
    def from_tag(cls, tag: str) -> "Language":
        """The language of a tag, as browsers and systems write it: ``ru-KG``, ``ky_KG``, ``kir``. Any other is English.

        >>> Language.from_tag("ru-KG")
        <Language.RUSSIAN: 'ru'>
        """
        language: Language = native.language_from_tag(_check.text("tag", tag))
        return language

    def __str__(self) -> str:
        return self.value


@flat_enum("Rule")
class Rule(Enum):
    """The rules that an input can break."""

    REQUIRED = "required"
    """The field must be given and not be blank."""
    LENGTH = "length"
    """The field must have an exact number of characters (or of digits)."""
    MINIMUM = "minimum"
    """The amount must not be under a minimum."""
    DIGITS = "digits"
    """Only the digits 0 to 9 are allowed."""
    LETTERS = "letters"
    """Only the letters A to Z are allowed."""
    MONTH = "month"
    """A month is written ``01`` to ``12``."""
    HTTP_URL = "http_url"
    """An absolute http or https URL is needed."""
    RETURN_URI = "return_uri"
    """An absolute URI is required (a deep link is valid), but not one that a browser or a system would execute or read files
    from."""
    IP_ADDRESS = "ip_address"
    """An IPv4 or IPv6 address is needed."""
    ONE_OF = "one_of"
    """The value must be one of a few."""
    LUHN = "luhn"
    """The check digit of the card number is wrong. Checked only if the gateway is configured to."""
    FORMAT = "format"
    """The text does not have the required format."""
    SIGNATURE = "signature"
    """The signature must be one that this key made for this purpose."""
    EXACT = "exact"
    """The value cannot be sent or converted without rounding: it has too many decimals, or is too large."""
    EXPIRED = "expired"
    """The card's expiry is in the past. A violation only in a `CardInput`; for a payment it is advice."""
    STATE = "state"
    """The action does not fit the state of its `kassa.checkout.Checkout`."""

    def __str__(self) -> str:
        return self.value


@record("Violation")
@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule of one input field. It never contains the value, so it is safe to log."""

    field: str
    """The field, by its name in the gateway's interface, such as ``callbackURL`` of a pay-form."""
    rule: Rule
    """The rule that is broken."""
    limit: str | None
    """The rule's limit, if it has one, such as ``3`` or ``13 to 20``."""
    text: str
    """One sentence that names the field and the rule, in English; ``text_in`` has other languages."""

    def __post_init__(self) -> None:
        _check.text("field", self.field)
        _check.instance("rule", self.rule, Rule)
        _check.optional_text("limit", self.limit)
        _check.text("text", self.text)

    def text_in(self, language: Language) -> str:
        """The text for the payer in a language: fields that a payer types have a translated name, others their own name.

        >>> Violation("pan", Rule.REQUIRED, None, "pan must be given").text_in(Language.RUSSIAN)
        'Номер карты: обязательно для заполнения'
        """
        text: str = method("Violation.text_in", self, _check.instance("language", language, Language))
        return text

    def __str__(self) -> str:
        return self.text


@flat_enum("AdviceTopic")
class AdviceTopic(Enum):
    """The topic of advice."""

    ORDER_NUMBER_CHARACTERS = "order_number_characters"
    """The order number has characters other than A-Z a-z 0-9 - _, which can fail in transmission, storage or encryption."""
    MEGA_PAY_MINIMUM = "mega_pay_minimum"
    """A pay-form under 5 KGS will not offer MegaPay."""
    CARD_NUMBER_MISTYPED = "card_number_mistyped"
    """The check digit of the card number is wrong: probably a mistyped digit."""
    CARD_EXPIRED = "card_expired"
    """The card's expiry is in the past."""
    PHONE_FORMAT = "phone_format"
    """The phone number is not a number of Kyrgyzstan (``996XXXXXXXXX``), as the interface's test numbers are."""
    RETURN_URL_FRAGMENT = "return_url_fragment"
    """The return URL has a ``#``: the gateway may add its parameters after it, where servers do not see them."""
    DIALECT = "dialect"
    """The dialect leaves a setting open, or does not find a value in a response."""

    def __str__(self) -> str:
        return self.value


@record("Advice")
@dataclass(frozen=True, slots=True)
class Advice:
    """A recommendation of the interface, or something that will probably be declined. It blocks nothing."""

    field: str
    """The field, by its name in the gateway's interface."""
    topic: AdviceTopic
    """The topic."""
    text: str
    """One sentence, in English; ``text_in`` has other languages."""

    def __post_init__(self) -> None:
        _check.text("field", self.field)
        _check.instance("topic", self.topic, AdviceTopic)
        _check.text("text", self.text)

    def text_in(self, language: Language) -> str:
        """The text for the payer in a language."""
        text: str = method("Advice.text_in", self, _check.instance("language", language, Language))
        return text

    def __str__(self) -> str:
        return self.text
