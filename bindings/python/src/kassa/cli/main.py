"""The commands."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

import kassa

from .arguments import PROGRAM, parser
from .output import Progress, block, complaint, describe_report, json_line, let_output_go, line, plain, trace

DONE, ANOTHER_ANSWER, WRONG_USE, NO_ANSWER, DEFECT, INTERRUPTED, UNREAD = 0, 1, 2, 3, 4, 130, 141

STORED_REFERENCE = re.compile(r"kassa\d+:", re.ASCII)


class WrongUse(Exception):
    """The command line or the environment is wrong."""


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Runs one command; its exit status. This is the console command ``kassa``; ``python -m kassa`` names itself."""
    if None in (sys.stdout, sys.stderr):
        return WRONG_USE
    try:
        try:
            return _run(arguments, program)
        finally:
            # Also where argparse has printed its help, and leaves.
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
    try:
        return COMMANDS[options.command](options)
    except WrongUse as problem:
        complaint(str(problem))
        return WRONG_USE
    except UnicodeEncodeError as problem:
        complaint(f"standard output is {problem.encoding}, which lacks a character; set PYTHONIOENCODING=utf-8")
        return WRONG_USE
    except kassa.PaymentError as error:
        json_line(**plain(error)) if options.json else complaint(str(error))
        return WRONG_USE if isinstance(error, kassa.Invalid | kassa.Misconfigured) else NO_ANSWER
    except OSError:
        raise  # files have been seen to, so it is the output
    except Exception as defect:  # noqa: BLE001 - whatever it is, it must not look like the gateway's answer
        return _failed(defect, options)


def _failed(defect: Exception, options: argparse.Namespace) -> int:
    if not isinstance(defect, kassa.InternalError):
        trace(defect)
        defect = kassa.InternalError(f"{type(defect).__name__}: {defect}")
    json_line(error="InternalError", text=str(defect)) if options.json else complaint(str(defect))
    return DEFECT


def status(options: argparse.Namespace) -> int:
    """Asks once about one payment, or about each of a list."""
    by_gateways_number = options.gateway_number is not None or options.transaction is not None
    if options.provider is not None and by_gateways_number:
        raise WrongUse("--provider goes with an order number alone")
    with _gateway() as gateway:
        if options.orders is not None:
            return _list(gateway, options)
        if options.gateway_number is not None:
            report = gateway.payment_status(options.gateway_number)
        elif options.transaction is not None:
            report = gateway.qr_status(options.transaction)
        else:
            report = _ask(gateway, _askable(_ref(options.payment, options.provider)))
    json_line(**plain(report)) if options.json else line(describe_report(report))
    return DONE if report.status == kassa.PaymentStatus.CHARGED else ANOTHER_ANSWER


def _list(gateway: kassa.Gateway, options: argparse.Namespace) -> int:
    payments = [text for text in map(str.strip, _read(options.orders).splitlines()) if text]
    # All of them before the first question, so that a typing error costs nothing.
    refs = [_askable(_ref(text, None if _is_stored(text) else options.provider)) for text in payments]
    if options.provider is not None and all(map(_is_stored, payments)):
        raise WrongUse("--provider goes with order numbers, and the list holds none")
    progress = Progress(len(payments))
    worst = DONE
    for done, (text, ref) in enumerate(zip(payments, refs, strict=True)):
        progress.show(done)
        exit_status = _list_one(gateway, text, ref, options, progress)
        worst = max(worst, exit_status)
    progress.clear()
    return worst


def _list_one(
    gateway: kassa.Gateway, text: str, ref: kassa.PaymentRef, options: argparse.Namespace, progress: Progress
) -> int:
    try:
        report = _ask(gateway, ref)
    except (kassa.Unauthorized, kassa.Misconfigured):
        # The next ones would fail in the same way.
        progress.clear()
        raise
    except kassa.PaymentError as error:
        progress.clear()
        json_line(payment=text, **plain(error)) if options.json else line(f"{text}  no answer: {error}")
        return NO_ANSWER
    progress.clear()
    json_line(payment=text, **plain(report)) if options.json else line(f"{text}  {describe_report(report)}")
    return DONE if report.status == kassa.PaymentStatus.CHARGED else ANOTHER_ANSWER


def _ask(gateway: kassa.Gateway, ref: kassa.PaymentRef) -> kassa.StatusReport:
    """One question, by whatever the reference knows."""
    if ref.transaction_id is not None:
        return gateway.qr_status(ref.transaction_id)
    if ref.gateway_number is not None:
        return gateway.payment_status(ref.gateway_number)
    return gateway.provider_status(ref.order_number or "", ref.provider or kassa.Provider.CARDS)


def _askable(ref: kassa.PaymentRef) -> kassa.PaymentRef:
    if not ref.can_be_asked_about:
        raise WrongUse(f"{ref} holds nothing to ask with")
    return ref


def watch(options: argparse.Namespace) -> int:
    """Follows one payment, a line a report."""
    policy = kassa.PollPolicy(options.interval, options.deadline)
    ref = _askable(_ref(options.payment, options.provider))
    charged = False
    with _gateway() as gateway, gateway.watch(ref, policy) as reports:
        for report in reports:
            match report:
                case kassa.StatusReport():
                    charged = report.status == kassa.PaymentStatus.CHARGED
                    json_line(**plain(report)) if options.json else line(describe_report(report))
                case kassa.QueryFailed(error):
                    json_line(**plain(error)) if options.json else line(f"no answer: {error}")
    return DONE if charged else ANOTHER_ANSWER


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
    for name, value in {**plain(parsed), "dedup_key": key, "payment": parsed.payment_ref()}.items():
        if value is not None and name != "raw":
            line(f"{name:<18} {value}")
    line("A callback is a hint: anybody can send one. Ask the gateway: kassa verify")
    return DONE


def verify(options: argparse.Namespace) -> int:
    """Asks whether a callback is true."""
    parsed = kassa.Callback.parse(_read(options.file))
    with _gateway() as gateway:
        verdict = gateway.verify_callback(parsed, _expected(options))
    if options.json:
        json_line(verdict=type(verdict).__name__, is_charged=verdict.is_charged, **plain(verdict))
    else:
        line(_describe_verdict(verdict))
    return DONE if verdict.is_charged else ANOTHER_ANSWER


def _describe_verdict(verdict: kassa.CallbackVerdict) -> str:
    match verdict:
        case kassa.Confirmed(report):
            return f"confirmed: {describe_report(report)}"
        case kassa.Pending(report):
            return f"pending, the payment is still open: {describe_report(report)}"
        case kassa.Contradicted(fields, _):
            return f"contradicted in {', '.join(fields)}: do not act on it"
        case kassa.Unverifiable():
            return "unverifiable: nothing can be proved"


def _expected(options: argparse.Namespace) -> kassa.ExpectedPayment | None:
    if options.expect is None and options.amount is None and options.currency is None:
        return None
    if options.expect is None or options.amount is None:
        raise WrongUse("--expect and --amount go together, and --currency goes with them")
    return kassa.ExpectedPayment(kassa.PaymentRef.parse(options.expect), options.amount, options.currency or "KGS")


def _ref(text: str, provider: kassa.Provider | None) -> kassa.PaymentRef:
    if _is_stored(text):
        if provider is not None:
            raise WrongUse("--provider goes with an order number; a stored reference names its own")
        return kassa.PaymentRef.parse(text)
    if provider is None:
        raise WrongUse(f"{text!r} is no stored reference; with an order number give --provider, too")
    kinds = {kassa.Provider.CARDS: kassa.PaymentKind.CARD, kassa.Provider.MBANK: kassa.PaymentKind.MBANK}
    kind = kinds.get(provider, kassa.PaymentKind.PAY_FORM)
    return kassa.PaymentRef(kind, order_number=text, provider=provider)


def _is_stored(text: str) -> bool:
    return STORED_REFERENCE.match(text) is not None


def _gateway() -> kassa.Gateway:
    return kassa.Gateway.from_environment()


def _read(file: str) -> str:
    if file == "-" and sys.stdin is None:
        raise WrongUse("standard input is closed")
    try:
        return sys.stdin.buffer.read().decode() if file == "-" else Path(file).read_text(encoding="utf-8")
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
    "watch": watch,
    "qr": qr,
    "callback": callback,
    "verify": verify,
}
