"""The command `kassa probe`: its arguments, its checks, and the files that it writes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

import kassa

from ..output import line
from .plan import NOWHERE, OTP, PHONE, STEPS, CouldNotRun, Plan, are_new, check_words, confirmed_host
from .run import Probe

CLEAN, NOT_CLEAN = 0, 1
LARGEST_AMOUNT, LONGEST_WAIT = 1000, 3600


def arguments(command: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    command.set_defaults(json=False, verbose=0)
    add = command.add_argument
    add("--test-environment", metavar="HOST", help="the host of KASSA_URL, a test environment; required")
    add("--yes", action="store_true", help="permits every payment; no page is opened then")
    add("--only", metavar="STEP,...", help=f"these alone: {', '.join(STEPS)}")
    amount, wait = _within(1, LARGEST_AMOUNT), _within(0, LONGEST_WAIT)
    add("--amount", type=amount, default=1, metavar="SOM", help="of each payment, whole som; default: 1")
    add("--phone", default=PHONE, help="the mobile bank's test phone")
    add("--otp", default=OTP, help="its one-time password")
    add("--card", action="append", metavar="NUMBER", help="a test card; can be repeated")
    add("--callback-url", default=f"{NOWHERE}/callback", metavar="URL", help="where callbacks go")
    add("--return-url", default=f"{NOWHERE}/return", metavar="URL", help="where payers return to")
    charged, rejected = "a status word that means charged", "a status word that means rejected"
    add("--charged-word", action="append", default=[], metavar="WORD", help=charged)
    add("--rejected-word", action="append", default=[], metavar="WORD", help=rejected)
    add("--wait", type=wait, default=60, metavar="SECONDS", help="for a payment to end; default: 60")
    add("--status-query", metavar="NUMBER", help="query this number; creates nothing")
    add("--write-dialect", metavar="FILE", help="a new file for the dialect that fits")
    add("--report", metavar="FILE", help="a new file for a report, without secrets")


def probe(options: argparse.Namespace) -> int:
    """Runs the steps; raises `CouldNotRun` if nothing could be tried."""
    steps = STEPS if options.only is None else tuple(options.only.split(","))
    if unknown := [step for step in steps if step not in STEPS]:
        raise CouldNotRun(f"{', '.join(unknown)} is not a step; the steps are {', '.join(STEPS)}")
    plan = Plan(
        steps=steps,
        amount=options.amount,
        phone=options.phone,
        otp=options.otp,
        cards=tuple(options.card or Plan.cards),
        callback_url=options.callback_url,
        return_url=options.return_url,
        wait=options.wait,
        says_yes=options.yes,
        charged_words=tuple(options.charged_word),
        rejected_words=tuple(options.rejected_word),
        status_query=options.status_query,
    )
    # Names everything that is wrong with the environment.
    kassa.Gateway.from_environment().close(0)
    host = confirmed_host(os.environ["KASSA_URL"], options.test_environment)
    if plan.status_query is None and not plan.says_yes and (sys.stdin is None or not sys.stdin.isatty()):
        raise CouldNotRun(
            "there is no terminal to permit payments on: run it in a terminal, or permit all payments by --yes"
        )
    given = _given_dialect()
    check_words(plan, given)
    are_new(options.write_dialect, options.report)
    line(f"The gateway's host is {host}.")
    return _play(Probe(plan, given), options)


def _play(run: Probe, options: argparse.Namespace) -> int:
    interrupted: KeyboardInterrupt | None = None
    try:
        run.run()
    except KeyboardInterrupt as stopped:
        interrupted = stopped
    finally:
        run.conclude()
    # One that cannot be written does not keep the other one from being written.
    files = ((options.write_dialect, run.dialect_file()), (options.report, run.report()))
    problems = [problem for file, text in files if file is not None and (problem := _write(file, text)) is not None]
    if problems:
        raise CouldNotRun(problems[0])
    if interrupted is not None:
        raise interrupted
    return CLEAN if run.is_clean else NOT_CLEAN


def _write(file: str, text: str) -> str | None:
    """Why it cannot be written."""
    try:
        with Path(file).open("x", encoding="utf-8") as new:
            new.write(text)
    except OSError as problem:
        return f"{file} cannot be written: {problem.strerror}"
    return None


def _given_dialect() -> kassa.Dialect:
    given = os.environ.get("KASSA_DIALECT")
    if not given:
        return kassa.Dialect()
    if given in kassa.Dialect.names():
        return kassa.Dialect.named(given)
    return kassa.Dialect.from_json(Path(given).read_text(encoding="utf-8-sig"))


def _within(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError("must be a whole number") from None
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be between {least} and {most}")
        return value

    return number
