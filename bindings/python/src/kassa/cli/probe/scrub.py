"""Redaction of output and reports: the SDK has masked what is secret in its own requests; here go phones, one-time
passwords, and what else the plan knows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .plan import OTP, Plan

SHORTEST_WORD = 4
NATIONAL_DIGITS = 9
STRANGERS_PHONE = r"996(?:[ ()-]*\d){9}"


class Scrubber:
    """Hides what must not leave this machine."""

    def __init__(self, plan: Plan, secrets: Iterable[str]) -> None:
        numbers = [re.sub(r"\D", "", number) for number in (*plan.cards, plan.phone)]
        numbers.append(numbers[-1][-NATIONAL_DIGITS:])
        hidden = [r"[ ()-]*".join(number) for number in numbers if len(number) >= NATIONAL_DIGITS]
        self._numbers = [re.compile(pattern, re.ASCII) for pattern in (*hidden, STRANGERS_PHONE)]
        words = [rf"(?<!\w){re.escape(word)}(?!\w)" for word in secrets if len(word) >= SHORTEST_WORD]
        # A gateway may echo it in a text, or as a number without its zeros. The published one is a code of success as well.
        otp = plan.otp.strip()
        otps = [] if otp == OTP else [text for text in (otp, otp.lstrip("0")) if len(text) >= SHORTEST_WORD]
        words += [rf"(?<![0-9]){re.escape(text)}(?![0-9])" for text in otps]
        self._words = [re.compile(pattern) for pattern in words]

    def text(self, text: str) -> str:
        """The text without them. Digits become stars one by one, so that the lengths in a QR code's text stay right."""
        for pattern in self._numbers:
            text = pattern.sub(lambda found: re.sub(r"\d", "*", found[0]), text)
        for pattern in self._words:
            text = pattern.sub("***", text)
        return text
