"""The journal commands: list unfinished payments, show one, finish by hand, prune, and recover once."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import kassa

from .output import WrongUse, block, json_line, line, plain

DONE, SOMETHING_LEFT = 0, 1
FOLDERS = ("open", "done")
BY_HAND = "finished-by-hand.log"
RETENTION_DAYS = 90

MEANING = {
    kassa.JournalState.UNKNOWN: "It was sent, and it is unknown whether money moved. Never send it again.",
    kassa.JournalState.PENDING: "The gateway accepted it. Money may still move.",
    kassa.JournalState.CHARGED: "The money was taken. Finish it when the goods are delivered, or the money is refunded.",
    kassa.JournalState.MISMATCH: "The gateway's report does not match the request. A person compares both at the gateway.",
    kassa.JournalState.REJECTED: "It ended, and no money was taken.",
}
CONSEQUENCE = {
    kassa.JournalState.UNKNOWN: "Its status is no longer queried: a charge stays unnoticed.",
    kassa.JournalState.PENDING: "Its status is no longer queried: a charge stays unnoticed.",
    kassa.JournalState.CHARGED: "It is no longer delivered: finish it only if the payer has the goods, or the money back.",
    kassa.JournalState.MISMATCH: "It is no longer listed: finish it only after you looked up the money at the gateway.",
    kassa.JournalState.REJECTED: "Nothing was taken, so nothing is lost.",
}
UNREADABLE = "It is no longer listed. If it is a payment, its status is no longer queried."
UNDECIDED = kassa.JournalState.UNKNOWN, kassa.JournalState.PENDING


def arguments(commands: Any, make: Callable[[Any, str, str], argparse.ArgumentParser]) -> None:
    """The arguments of ``kassa journal`` and ``kassa recover``."""
    top = commands.add_parser("journal", help="show and finish payments of a journal, without querying the gateway")
    within = top.add_subparsers(dest="action", required=True, metavar="COMMAND", title="commands")
    listing = make(within, "list", "list unfinished payments")
    show = make(within, "show", "show a payment, finished or not")
    finish = make(within, "finish", "mark a payment as finished by hand, with a reason")
    prune = make(within, "prune", "remove old finished payments for good")
    recover = make(commands, "recover", "query all unfinished payments; finishes nothing")
    for command in (listing, show, finish, prune, recover):
        command.add_argument("--journal", metavar="FOLDER", help="the journal's folder; default: KASSA_JOURNAL")
    for command in (show, finish):
        command.add_argument("order", metavar="ORDER", help="an order number, an entry's id, or a stored reference")
    finish.add_argument("--reason", metavar="TEXT", help=f"why; it is written to {BY_HAND} in the journal's folder")
    finish.add_argument("--although-undecided", action="store_true", help="also if its money may have moved")
    prune.add_argument(
        "--older-than", type=_days, default=RETENTION_DAYS, metavar="DAYS", help=f"default: {RETENTION_DAYS}"
    )
    for command in (finish, prune):
        command.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    recover.add_argument("--deadline", type=_seconds, default=60.0, metavar="SECONDS", help="default: 60")
    recover.add_argument(
        "--jobs", type=_jobs, default=8, metavar="N", help="how many queries are sent at once; default: 8"
    )


def journal(options: argparse.Namespace) -> int:
    """``kassa journal ...``."""
    action: Callable[[argparse.Namespace, Path], int] = ACTIONS[options.action]
    return action(options, _folder(options))


def recover(options: argparse.Namespace) -> int:
    """Recovers once. It records how payments ended, and delivers and finishes nothing."""
    folder = _folder(options)
    _refuse_if_recovering(folder)
    policy = kassa.RecoveryPolicy(deadline=options.deadline, at_once=options.jobs)
    with kassa.Gateway.from_environment(journal=folder) as gateway, gateway.recover(policy) as recovery:
        for item in recovery:
            _print(item, options)
        left = list(gateway.unfinished())
    if not options.json:
        undecided = sum(_is_undecided(item) for item in left)
        line(f"{len(left)} unfinished, {undecided} of them undecided" if left else "nothing is left unfinished")
    return SOMETHING_LEFT if left else DONE


def _list(options: argparse.Namespace, folder: Path) -> int:
    count = 0
    for item in kassa.Journal(folder).unfinished():
        count += 1
        _print(item, options)
    return SOMETHING_LEFT if count else DONE


def _show(options: argparse.Namespace, folder: Path) -> int:
    found = _find(kassa.Journal(folder), options.order)
    if options.json:
        json_line(**plain(found))
        return DONE
    for name, value in plain(found).items():
        if value is not None:
            line(f"{name:<12} {value}")
    if isinstance(found, kassa.JournalEntry):
        line(MEANING[found.state] + (" It is finished." if found.is_finished else ""))
    return DONE


def _finish(options: argparse.Namespace, folder: Path) -> int:
    journal = kassa.Journal(folder)
    found = _find(journal, options.order)
    if isinstance(found, kassa.JournalEntry) and found.is_finished:
        json_line(finished=found.id, before=True) if options.json else line(f"{found.id} was finished before")
        return DONE
    if _is_undecided(found) and not options.although_undecided:
        raise WrongUse(
            f"{_label(found)} is undecided: its money may have moved. Query it first (kassa recover, kassa check). "
            "To finish it anyway, add --although-undecided"
        )
    reason = options.reason.strip() if options.reason else ""
    if not reason:
        raise WrongUse("say why: --reason TEXT")
    consequence = CONSEQUENCE[found.state] if isinstance(found, kassa.JournalEntry) else UNREADABLE
    _confirm(options, f"{_label(found)}. {consequence}", "Finish it?")
    # Before finishing, so that each payment finished by hand has its reason.
    _write_reason(folder, found, reason)
    journal.finish(found)
    json_line(finished=found.id, reason=reason) if options.json else line(f"finished {found.id}")
    return DONE


def _prune(options: argparse.Namespace, folder: Path) -> int:
    # Before the journal is opened: opening prunes finished payments older than 90 days.
    before = dict(_months(folder))
    now = datetime.now(timezone.utc)
    oldest_kept = f"{now - timedelta(days=options.older_than):%Y-%m}"
    old = {month: count for month, count in before.items() if month < oldest_kept}
    if not options.json:
        for month, count in old.items():
            line(f"{month}  {count} finished payments")
    if old:
        numbers = "Their order numbers are removed, too, so they could be sent again."
        _confirm(options, f"{sum(old.values())} finished payments are removed for good. {numbers}", "Remove them?")
        kassa.Journal(folder).prune(timedelta(days=options.older_than))
    removed = sum(before.values()) - sum(count for _, count in _months(folder))
    json_line(removed=removed) if options.json else line(f"removed {removed} finished payments")
    return DONE


ACTIONS = {"list": _list, "show": _show, "finish": _finish, "prune": _prune}


def _folder(options: argparse.Namespace) -> Path:
    given = options.journal or os.environ.get("KASSA_JOURNAL")
    if not given:
        raise WrongUse("which journal? Give --journal FOLDER, or set KASSA_JOURNAL")
    folder = Path(given)
    # Opening would create an empty journal, which looks as if nothing were unfinished.
    if not all((folder / name).is_dir() for name in FOLDERS):
        raise WrongUse(f"{folder} is not a journal: it has no folders {' and '.join(FOLDERS)}")
    return folder


def _refuse_if_recovering(folder: Path) -> None:
    """Waiting for another process would look like waiting for the gateway."""
    try:
        import fcntl
    except ImportError:  # Windows: there the recovery waits
        return
    lock = folder / "recovery.lock"
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WrongUse(
            f"another process, such as the shop's worker, is recovering {folder}: it polls every unfinished payment, and "
            "kassa journal list shows its results"
        ) from None
    except FileNotFoundError:
        return


def _find(journal: kassa.Journal, text: str) -> kassa.Unfinished:
    for payment in _references(text):
        if (entry := journal.entry(payment)) is not None:
            return entry
    for item in journal.unfinished():
        if text in (item.id, getattr(item, "note", None)):
            return item
    raise WrongUse(f"the journal has no payment {text!r}; kassa journal list shows unfinished payments")


def _references(text: str) -> Iterator[kassa.PaymentRef]:
    """The payments that a number may name: an order's, a QR transaction's, or an entry id."""
    if text.startswith("kassa1:"):
        yield kassa.PaymentRef.parse(text)
        return
    yield kassa.PaymentRef(kassa.PaymentKind.MBANK, order_number=text, provider=kassa.Provider.MBANK)
    yield kassa.PaymentRef(kassa.PaymentKind.QR, transaction_id=text)
    yield kassa.PaymentRef(kassa.PaymentKind.PAY_FORM, entry_id=text)


def _print(item: kassa.Unfinished, options: argparse.Namespace) -> None:
    if options.json:
        json_line(**plain(item))
    elif isinstance(item, kassa.Unreadable):
        line(f"unreadable  {item.id}: {item.why}")
    else:
        payment = item.payment
        number = payment.order_number or payment.transaction_id or payment.entry_id or item.id
        amount = "" if payment.amount is None else f"{payment.amount} {payment.currency or ''}".strip()
        note = "" if item.note is None else f"({item.note})"
        begun = item.begun.astimezone().strftime("%Y-%m-%d %H:%M")
        parts = (f"{item.state!s:<10}", begun, amount, number, note, item.reason or "")
        line("  ".join(part for part in parts if part))


def _is_undecided(item: kassa.Unfinished) -> bool:
    """A file that cannot be read may be any payment."""
    return isinstance(item, kassa.Unreadable) or item.state in UNDECIDED


def _label(item: kassa.Unfinished) -> str:
    if isinstance(item, kassa.Unreadable):
        return f"the file {item.id} {item.why}, and"
    number = item.payment.order_number or item.id
    return f"payment {number}{f' ({item.note})' if item.note else ''}, {item.state},"


def _confirm(options: argparse.Namespace, text: str, question: str) -> None:
    if options.yes:
        return
    if options.json or sys.stdin is None or not sys.stdin.isatty():
        raise WrongUse(f"{text} There is no terminal to confirm on: add --yes")
    line(text)
    sys.stdout.write(f"{question} [y/N] ")
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        block("")
        raise WrongUse("nothing was changed")


def _write_reason(folder: Path, item: kassa.Unfinished, reason: str) -> None:
    state = item.state if isinstance(item, kassa.JournalEntry) else "unreadable"
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in a container
        user = None
    written = {"at": datetime.now(timezone.utc), "id": item.id, "state": state, "reason": reason, "by": user}
    try:
        with open(folder / BY_HAND, "a", encoding="utf-8", opener=_private) as file:
            file.write(json.dumps(plain(written), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        raise WrongUse(f"the reason cannot be written, so nothing is finished: {problem.strerror}") from None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _months(folder: Path) -> Iterator[tuple[str, int]]:
    for month in sorted((folder / "done").iterdir()):
        if month.is_dir():
            yield month.name, sum(1 for _ in month.iterdir())


def _days(text: str) -> int:
    if not text.isdecimal() or int(text) > 100_000:
        raise argparse.ArgumentTypeError("must be a whole number of days")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError("must be a number of seconds, longer than zero")
    return seconds


def _jobs(text: str) -> int:
    from .arguments import jobs

    return jobs(text)
