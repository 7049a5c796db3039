"""The commands."""

from __future__ import annotations

import argparse
import logging
import re
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import kassa

from .arguments import PROGRAM, parser
from .completion import completion
from .journal import journal, recover
from .output import (
    Answer,
    Progress,
    WrongUse,
    block,
    complaint,
    describe,
    json_line,
    let_output_go,
    line,
    plain,
    trace,
)
from .probe.command import probe
from .probe.plan import CouldNotRun

DONE, ANOTHER_VERDICT, WRONG_USE, NO_RESPONSE, DEFECT, INTERRUPTED, UNREAD = 0, 1, 2, 3, 4, 130, 141

STORED_REFERENCE = re.compile(r"kassa\d+:", re.ASCII)


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Runs one command; its exit status. This is the console command ``kassa``; ``python -m kassa`` names itself."""
    if None in (sys.stdout, sys.stderr):
        return WRONG_USE
    try:
        try:
            return _run(arguments, program)
        finally:
            # Also if argparse printed its help and raised SystemExit.
            sys.stdout.flush()
    except BrokenPipeError:
        let_output_go()
        return UNREAD
    except OSError as problem:
        let_output_go()
        complaint(f"the output cannot be written: {problem.strerror}")
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments: list[str] | None, program: str) -> int:
    options = parser(program).parse_args(arguments)
    if options.verbose:
        level = logging.INFO if options.verbose == 1 else logging.DEBUG
        logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
    try:
        return COMMANDS[options.command](options)
    except (WrongUse, CouldNotRun) as problem:
        complaint(str(problem))
        return WRONG_USE
    except UnicodeEncodeError as problem:
        complaint(f"standard output is {problem.encoding}, which lacks a character; set PYTHONIOENCODING=utf-8")
        return WRONG_USE
    except kassa.PaymentError as error:
        json_line(**plain(error)) if options.json else complaint(str(error))
        return WRONG_USE if isinstance(error, kassa.Invalid | kassa.Misconfigured) else NO_RESPONSE
    except OSError:
        raise  # _read and _write handle files, so this is the output
    except Exception as defect:  # noqa: BLE001 - a defect must not look like the gateway's answer
        return _failed(defect, options)


def _failed(defect: Exception, options: argparse.Namespace) -> int:
    if not isinstance(defect, kassa.InternalError):
        trace(defect)
        defect = kassa.InternalError(f"{type(defect).__name__}: {defect}")
    json_line(error="InternalError", text=str(defect)) if options.json else complaint(str(defect))
    return DEFECT


def status(options: argparse.Namespace) -> int:
    """Queries the status of one payment, or of each of a list."""
    by_gateways_number = options.gateway_number is not None or options.transaction is not None
    if by_gateways_number == (options.provider is not None):
        raise WrongUse("--provider is required with an order number, and only with one")
    orders = [options.order] if options.orders is None else _lines(options.orders)
    if stored := next(filter(_is_stored, filter(None, orders)), None):
        raise WrongUse(f"{stored} is a stored reference: use kassa check")
    with _gateway() as gateway:
        if options.orders is not None:
            return _each(
                [(order, partial(gateway.provider_status, order, options.provider)) for order in orders], options
            )
        if options.gateway_number is not None:
            report = gateway.payment_status(options.gateway_number)
        elif options.transaction is not None:
            report = gateway.qr_status(options.transaction)
        else:
            report = gateway.provider_status(options.order, options.provider)
    json_line(**plain(report)) if options.json else line(describe(report))
    return DONE


def check(options: argparse.Namespace) -> int:
    """Checks once whether a payment, or each of a list, is charged as requested."""
    if options.payments is None:
        payment = _askable(_payment(options.payment, options))
        with _gateway() as gateway:
            verdict = gateway.check(payment)
        _show(verdict, options)
        return _exit_status(verdict)
    # Parses all of them before the first query, so that a typing error costs nothing.
    payments = [(text, _askable(_payment(text, options))) for text in _lines(options.payments)]
    with _gateway() as gateway:
        return _each([(text, partial(gateway.check, payment)) for text, payment in payments], options)


def _each(questions: list[tuple[str, Callable[[], Answer]]], options: argparse.Namespace) -> int:
    """Queries the payments, one line each, in their order; returns the worst exit status."""
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            return _each_of([(text, pool.submit(query)) for text, query in questions], options)
        finally:
            pool.shutdown(cancel_futures=True)


def _each_of(questions: list[tuple[str, Future[Answer]]], options: argparse.Namespace) -> int:
    progress = Progress(len(questions))
    worst = DONE
    for done, (text, future) in enumerate(questions):
        progress.show(done)
        try:
            answer = future.result()
        except (kassa.Unauthorized, kassa.Misconfigured):
            # The next ones would fail in the same way.
            progress.clear()
            raise
        except kassa.PaymentError as error:
            progress.clear()
            worst = NO_RESPONSE
            json_line(queried=text, **plain(error)) if options.json else line(f"{text}  no answer: {error}")
        else:
            progress.clear()
            worst = max(worst, _exit_status(answer))
            json_line(queried=text, **plain(answer)) if options.json else line(f"{text}  {describe(answer)}")
    return worst


def _exit_status(answer: Answer) -> int:
    return DONE if isinstance(answer, kassa.StatusReport) or answer.is_charged else ANOTHER_VERDICT


def _show(verdict: kassa.Verdict, options: argparse.Namespace) -> None:
    json_line(**plain(verdict)) if options.json else line(describe(verdict))


def watch(options: argparse.Namespace) -> int:
    """Polls one payment, one line per report."""
    policy = kassa.PollPolicy(options.interval, options.deadline)
    payment = _askable(_payment(options.payment, options))
    with _gateway() as gateway, gateway.watch(payment, policy) as reports:
        for report in reports:
            match report:
                case kassa.QueryFailed(error):
                    json_line(**plain(error)) if options.json else line(f"no answer: {error}")
                case verdict:
                    _show(verdict, options)
        end = reports.outcome()
    return DONE if end is not None and end.is_charged else ANOTHER_VERDICT


def qr(options: argparse.Namespace) -> int:
    """Draws a code."""
    if options.side is not None and options.png is None:
        raise WrongUse("--side goes with --png")
    text = _read("-").rstrip("\r\n") if options.text == "-" else options.text
    code = kassa.QrCode(text, kassa.QrLevel(options.level))
    if options.png is not None:
        _write(options.png, code.png(options.side or kassa.QR_PNG_SIDE))
    if options.svg is not None:
        _write(options.svg, code.svg().encode())
    if options.json:
        json_line(text=text, modules=tuple("".join("#" if dark else "." for dark in row) for row in code.modules()))
    elif options.png is None and options.svg is None:
        block(code.text())
    return DONE


def callback(options: argparse.Namespace) -> int:
    """Reads a callback."""
    parsed = kassa.Callback.parse(_read(options.file))
    key = parsed.dedup_key()
    if options.json:
        json_line(**plain(parsed), dedup_key=key, payment=parsed.payment_ref())
        return DONE
    missing = ", ".join(parsed.missing) or None
    for name, value in {**plain(parsed), "missing": missing, "dedup_key": key, "payment": parsed.payment_ref()}.items():
        if value is not None and name != "raw":
            line(f"{name:<18} {value}")
    line("A callback is a hint: anybody can send one. Verify it: kassa verify PAYMENT")
    return DONE


def verify(options: argparse.Namespace) -> int:
    """Verifies a callback."""
    payment = _payment(options.payment, options)
    parsed = kassa.Callback.parse(_read(options.file))
    with _gateway() as gateway:
        verdict = gateway.verify_callback(parsed, payment)
    _show(verdict, options)
    return _exit_status(verdict)


def ping(options: argparse.Namespace) -> int:
    """Sends one harmless status query, for a number that no payment has."""
    began = time.monotonic()
    with _gateway() as gateway:
        # "No such number" is an answer, too.
        with suppress(kassa.Refused):
            gateway.provider_status(kassa.new_order_number(), kassa.Provider.CARDS)
        took = round(1000 * (time.monotonic() - began))
        json_line(answered=True, milliseconds=took) if options.json else line(f"{gateway} answers after {took} ms")
    return DONE


def _payment(text: str, options: argparse.Namespace) -> kassa.PaymentRef:
    """The payment reference: the stored one, or made from the command line."""
    said = (options.provider, options.amount, options.currency)
    if _is_stored(text):
        if said != (None, None, None):
            raise WrongUse(
                "--provider, --amount and --currency go with an order number; a stored reference has its own"
            )
        return kassa.PaymentRef.parse(text)
    provider, amount, currency = said
    if provider is None or amount is None:
        raise WrongUse(f"{text!r} is not a stored reference; with an order number give --provider and --amount, too")
    # A MegaPay order number alone may belong to a pay-form, so use that kind. Payments by PIN have a stored reference.
    kinds = {kassa.Provider.CARDS: kassa.PaymentKind.CARD, kassa.Provider.MBANK: kassa.PaymentKind.MBANK}
    kind = kinds.get(provider, kassa.PaymentKind.PAY_FORM)
    return kassa.PaymentRef(kind, order_number=text, provider=provider, amount=amount, currency=currency or "KGS")


def _askable(payment: kassa.PaymentRef) -> kassa.PaymentRef:
    if not payment.can_be_checked:
        raise WrongUse(f"{payment} has no number to query by")
    return payment


def _is_stored(text: str) -> bool:
    return STORED_REFERENCE.match(text) is not None


def _lines(file: str) -> list[str]:
    return [text for text in map(str.strip, _read(file).splitlines()) if text]


def _gateway() -> kassa.Gateway:
    return kassa.Gateway.from_environment()


def _read(file: str) -> str:
    if file == "-" and sys.stdin is None:
        raise WrongUse("standard input is closed")
    try:
        # Notepad writes a byte order mark.
        if file == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig")
        return Path(file).read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise WrongUse(f"{file} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise WrongUse(f"{file} is not UTF-8") from None


def _write(file: str, content: bytes) -> None:
    try:
        Path(file).write_bytes(content)
    except OSError as problem:
        raise WrongUse(f"{file} cannot be written: {problem.strerror}") from None


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "status": status,
    "check": check,
    "watch": watch,
    "qr": qr,
    "callback": callback,
    "verify": verify,
    "ping": ping,
    "journal": journal,
    "recover": recover,
    "completion": completion,
    "probe": probe,
}
