"""The probe's steps and test values, and the checks before anything is sent."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import kassa

from ..proposal import Proposal, same_word

STEPS = ("mbank", "card", "pay-form", "qr-image", "qr")
"""The flows, in order."""

WITHOUT_3DS = "without 3DS"
"""A payment by such a card may end in an error, the gateway's pages say."""

CARDS = {
    "4047300000007550": WITHOUT_3DS,
    "2200112611773794": "3DS 2.0",
    "4439970000000007": "3DS 2.0",
    "5136914521003242": "3DS 1.0",
}
"""The test cards that FINIPAY's pages publish."""

PHONE, OTP = "996772140014", "0000"
NOWHERE = "https://kassa-probe.invalid"
DESCRIPTION = "Kassa probe"
PAUSE = 10.0
LONGEST_WORD = 64
PORTS = {"https": 443, "http": 80}


class CouldNotRun(Exception):
    """Why nothing could be tried."""


@dataclass(frozen=True)
class Plan:
    """The steps to run, and their test values."""

    steps: tuple[str, ...] = STEPS
    amount: int = 1
    phone: str = PHONE
    otp: str = OTP
    cards: tuple[str, ...] = tuple(CARDS)
    callback_url: str = f"{NOWHERE}/callback"
    return_url: str = f"{NOWHERE}/return"
    wait: float = 60
    pause: float = PAUSE
    says_yes: bool = False
    charged_words: tuple[str, ...] = ()
    rejected_words: tuple[str, ...] = ()
    status_query: str | None = None
    """A number of an existing payment: it alone is queried, and nothing is created."""


def check_words(plan: Plan, given: kassa.Dialect) -> None:
    """Refuses bad status words, each with the word and the rule that it breaks."""
    for word in (*plan.charged_words, *plan.rejected_words):
        if not word.strip():
            raise CouldNotRun(f'the status word "{word}" is blank: name a word that the gateway sends')
        if not any(sign.isalnum() for sign in word):
            raise CouldNotRun(f'the status word "{word}" has neither a letter nor a digit')
        if len(word) > LONGEST_WORD:
            raise CouldNotRun(f'the status word "{word}" is longer than {LONGEST_WORD} characters')
    for word in plan.charged_words:
        if any(same_word(word, other) for other in plan.rejected_words):
            raise CouldNotRun(f'the status word "{word}" cannot mean both charged and rejected')
    proposal = Proposal(given)
    for name, words, other in (
        ("charged_words", plan.charged_words, "rejected"),
        ("rejected_words", plan.rejected_words, "charged"),
    ):
        for word in words:
            if not proposal.has_word(name, word) and not proposal.put_word(name, word):
                raise CouldNotRun(f'the status word "{word}" means {other} in the given dialect already')


def confirmed_host(base_url: str, named: str | None) -> str:
    """The host of the gateway, which a person has named as that of a test environment."""
    url = urlsplit(base_url)
    name, default = (url.hostname or "").lower(), PORTS.get(url.scheme.lower())
    name = f"[{name}]" if ":" in name else name
    has_port = url.port is not None and url.port != default
    host = f"{name}:{url.port}" if has_port else name
    if named is None:
        raise CouldNotRun(
            "the probe creates and confirms payments, so it runs only against a test environment: if "
            f"{host} is one, say --test-environment {host}"
        )
    accepted = {host} if has_port else {host, f"{host}:{default}"}
    if named.lower() not in accepted:
        raise CouldNotRun(f"--test-environment names {named}, and the host of KASSA_URL is {host}: nothing was sent")
    return host


def are_new(*files: str | None) -> None:
    """Refuses to overwrite the results of another run."""
    seen: set[Path] = set()
    for file in files:
        if file is None:
            continue
        path = Path(file)
        if path in seen or _is_there(path):
            raise CouldNotRun(f"{file} exists already: name a new file")
        if not path.parent.is_dir():
            raise CouldNotRun(f"{file} cannot be written: its folder does not exist")
        seen.add(path)


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except OSError:
        # Also if its name is too long: writing it reports the problem.
        return False
    return True
