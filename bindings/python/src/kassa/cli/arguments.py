"""The command-line arguments. Credentials are not among them: every user of the machine can see arguments."""

from __future__ import annotations

import argparse
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import kassa

from . import journal as journal_command
from .probe import command as probe_command

EPILOG = """\
examples:
  kassa status order-17 --provider Cards      what the gateway reports
  kassa check 'kassa1:kind=card&order=order-17&amount=100.10&currency=KGS'
  kassa check order-17 --provider Cards --amount 100.10
  kassa check --payments stored.txt --json    many, one JSON object per line
  kassa watch 'kassa1:...'
  kassa verify 'kassa1:...' callback.json
  kassa qr 'https://pay.example.kg/q/17' --png code.png
  kassa ping                                  whether the gateway answers
  kassa journal list --journal payments       unfinished payments
  kassa recover --journal payments            query all unfinished payments
  kassa probe --test-environment HOST --report report.md --write-dialect d.json

environment:
  KASSA_URL                the gateway's base address
  KASSA_LOGIN              the merchant's login
  KASSA_PASSWORD           the merchant's password
  KASSA_DIALECT            a dialect's name or file (JSON), if one is needed
  KASSA_PROXY              a proxy's URL, or: environment
  KASSA_ROOT_CERTIFICATES  a file (PEM) of additional certificates to trust
  KASSA_PLAIN_HTTP_HOSTS   hosts of your network for plain http, comma-separated
  KASSA_JOURNAL            the journal's folder, instead of --journal

exit status:
  0    done; for check, watch and verify: charged as requested
  1    any other verdict; for probe: a value could not be read;
       for recover and journal list: a payment is unfinished
  2    the command line, the environment or the input is wrong
  3    no answer; the error says why
  4    a defect in Kassa; it says nothing about the money
  130  stopped by Ctrl-C
  141  the reader of the output closed it
"""

LARGEST_SIDE = 10_000
MOST_DIGITS = 28
MOST_JOBS = 64

PROGRAM = "kassa"

PAYMENT = "a stored reference (kassa1:...), or an order number together with --provider and --amount"


def parser(program: str) -> argparse.ArgumentParser:
    """The whole command line; `program` is the name that it was called by."""
    top = argparse.ArgumentParser(
        prog=program,
        description=(
            "Query the status of payments, parse callbacks, and draw QR codes.\nNo command moves money except "
            "probe, which is for a test environment."
        ),
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"kassa {kassa.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    _status(_command(commands, "status", "show what the gateway reports, without a verdict"))
    _check(_command(commands, "check", "check once whether payments are charged as requested"))
    _watch(_command(commands, "watch", "poll a payment until its status is final"))
    _qr(_command(commands, "qr", "draw a QR code in the terminal, or into a file"))
    _callback(_command(commands, "callback", "parse the body of a callback, without any request"))
    _verify(_command(commands, "verify", "verify a callback by querying the gateway"))
    _command(commands, "ping", "send the gateway one harmless status query")
    journal_command.arguments(commands, _command)
    completing = commands.add_parser("completion", help="print a script that completes commands in a shell")
    completing.add_argument("shell", choices=("bash", "zsh", "fish"))
    completing.set_defaults(json=False, verbose=0)
    probing = commands.add_parser(
        "probe",
        help="run every flow against a TEST environment",
        description=(
            "Runs every flow against the gateway's TEST environment with published test values, shows each response next to "
            "what the dialect reads in it, and writes the dialect that fits. It creates and confirms payments, and asks you "
            "before each."
        ),
    )
    probe_command.arguments(probing)
    return top


def _command(commands: Any, name: str, summary: str) -> argparse.ArgumentParser:
    description = summary[0].upper() + summary[1:] + "."
    command: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=description)
    command.add_argument("--json", action="store_true", help="one JSON object per line, for programs")
    command.add_argument("-v", "--verbose", action="count", default=0, help="log to standard error; -vv: each request")
    return command


def _status(command: argparse.ArgumentParser) -> None:
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("order", nargs="?", type=_text, metavar="ORDER", help="an order number, with --provider")
    which.add_argument("--gateway-number", type=_text, metavar="NUMBER", help="the gateway's own order number")
    which.add_argument("--transaction", type=_text, metavar="ID", help="the transaction id of a QR payment")
    which.add_argument("--orders", metavar="FILE", help="a file with one ORDER per line; - is standard input")
    _jobs(command)
    _provider(command)


def _check(command: argparse.ArgumentParser) -> None:
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("payment", nargs="?", type=_text, metavar="PAYMENT", help=PAYMENT)
    which.add_argument(
        "--payments", metavar="FILE", help="a file with one stored reference per line; - is standard input"
    )
    _jobs(command)
    _asked_for(command)


def _watch(command: argparse.ArgumentParser) -> None:
    command.add_argument("payment", type=_text, metavar="PAYMENT", help=PAYMENT)
    _asked_for(command)
    policy = kassa.PollPolicy()
    command.add_argument("--interval", type=_seconds, default=policy.interval, metavar="SECONDS", help="default: 10")
    command.add_argument("--deadline", type=_seconds, default=policy.deadline, metavar="SECONDS", help="default: 1200")


def _qr(command: argparse.ArgumentParser) -> None:
    command.add_argument("text", type=_text, metavar="TEXT", help="the content of the code; - is standard input")
    command.add_argument("--png", metavar="FILE", help="write a PNG to this file instead")
    command.add_argument("--svg", metavar="FILE", help="write an SVG to this file instead")
    command.add_argument("--side", type=_pixels, metavar="PIXELS", help="of the PNG; default: 400")
    levels = [level.value for level in kassa.QrLevel]
    command.add_argument(
        "--level", choices=levels, default="medium", help="error correction: how much of the code may be unreadable"
    )


def _callback(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", nargs="?", default="-", metavar="FILE", help="the body; default: standard input")


def _verify(command: argparse.ArgumentParser) -> None:
    command.add_argument("payment", type=_text, metavar="PAYMENT", help=PAYMENT)
    _callback(command)
    _asked_for(command)


def _asked_for(command: argparse.ArgumentParser) -> None:
    _provider(command)
    command.add_argument(
        "--amount",
        type=_amount,
        metavar="AMOUNT",
        help="with an order number: the requested amount, in som or the currency",
    )
    command.add_argument("--currency", type=_text, help="with an order number; default: KGS")


def _jobs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--jobs", type=jobs, default=1, metavar="N", help="how many queries are sent at once; default: 1"
    )


def _provider(command: argparse.ArgumentParser) -> None:
    command.add_argument("--provider", type=_known_provider, help="with an order number: Cards, MBank or MegaPay")


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        # Bytes that are not UTF-8. argparse shows the argument's name.
        raise argparse.ArgumentTypeError("must be UTF-8") from None
    return text


def _known_provider(text: str) -> kassa.Provider:
    return kassa.Provider(_text(text))


def _seconds(text: str) -> timedelta:
    try:
        seconds = timedelta(seconds=float(text))
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError("must be a number of seconds") from None
    if seconds <= timedelta():
        raise argparse.ArgumentTypeError("must be longer than zero")
    return seconds


def jobs(text: str) -> int:
    """How many at once."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_JOBS:
        raise argparse.ArgumentTypeError(f"must be between 1 and {MOST_JOBS}")
    return int(text)


def _pixels(text: str) -> int:
    try:
        pixels = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError("must be a whole number") from None
    if not 1 <= pixels <= LARGEST_SIDE:
        raise argparse.ArgumentTypeError(f"must be between 1 and {LARGEST_SIDE}")
    return pixels


def _amount(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise argparse.ArgumentTypeError("must be a decimal number") from None
    if not amount.is_finite() or amount <= 0 or abs(amount.adjusted()) > MOST_DIGITS:
        raise argparse.ArgumentTypeError(f"must be more than zero, with at most {MOST_DIGITS} digits")
    return amount
