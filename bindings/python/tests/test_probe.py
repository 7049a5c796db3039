"""`kassa probe` against gateways that answer in ways of their own, and what it says of them."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest
from conformance.patience import PATIENCE
from conftest import PASSWORD
from odd_gateways import (
    BASE,
    COMPLETE,
    Answer,
    OddGateway,
    by_quid,
    complete,
    enveloped,
    pages,
    renamed,
    running,
    slow,
)

import kassa
from kassa.cli.main import main
from kassa.cli.probe.plan import CouldNotRun, Plan, check_words, confirmed_host
from kassa.cli.probe.report import code, fenced, prose
from kassa.cli.probe.run import Probe
from kassa.cli.probe.scrub import Scrubber
from kassa.cli.proposal import Proposal

CARD, PHONE, LOGIN = "4047300000007550", "996772140014", "merchant-seven"
PLAN = Plan(cards=(CARD,), wait=0, says_yes=True)
MBANK = replace(PLAN, steps=("mbank",))
ALL_READ = "Everything was read"


@dataclass
class Ran:
    """What a run came to."""

    is_clean: bool
    problems: list[str]
    dialect: dict[str, Any]
    text: str
    """All that was said, and the report."""

    def has_problem(self, part: str) -> bool:
        return any(part in problem for problem in self.problems)


@dataclass
class Player:
    """Plays a plan against a gateway."""

    patched: pytest.MonkeyPatch
    captured: pytest.CaptureFixture[str]

    def play(self, gateway: OddGateway, plan: Plan, given: kassa.Dialect | None = None, typed: str = "") -> Ran:
        self.patched.setenv("KASSA_URL", gateway.url)
        self.patched.setattr("sys.stdin", io.StringIO(typed))
        probe = Probe(plan, given or kassa.Dialect())
        probe.run()
        probe.conclude()
        problems = [problem for finding in probe.findings for problem in finding.problems]
        text = self.captured.readouterr().out + probe.report()
        for secret in (PASSWORD, PHONE, PHONE[3:], CARD, LOGIN):
            assert secret not in text
        return Ran(probe.is_clean, problems, json.loads(probe.dialect_file()), text)

    def again(self, gateway: OddGateway, first: Ran, plan: Plan) -> None:
        """Runs with the dialect that a run has written."""
        second = self.play(gateway, plan, kassa.Dialect.from_json(json.dumps(first.dialect)))
        assert second.is_clean, (second.problems, first.dialect)
        assert second.dialect == first.dialect


@pytest.fixture
def player(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Player:
    for name in ("KASSA_DIALECT", "KASSA_PROXY", "KASSA_ROOT_CERTIFICATES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KASSA_LOGIN", LOGIN)
    monkeypatch.setenv("KASSA_PASSWORD", PASSWORD)
    return Player(monkeypatch, capsys)


def test_probe_finds_renamed_fields_and_asks_for_status_words(player: Player) -> None:
    plan = replace(PLAN, steps=("mbank", "card", "pay-form"))
    with running(renamed()) as gateway:
        # Whether a word means that money was taken, no response can teach.
        unsaid = player.play(gateway, plan)
        assert unsaid.has_problem('it has not ended: "PAID"')
        assert "PAID" not in json.dumps(unsaid.dialect)
        first = player.play(gateway, replace(plan, charged_words=("PAID",)))
        assert first.has_problem("code probably stands at /head/resultCode")
        assert first.has_problem("the gateway's number stands at /body/ref")
        assert "charged: the test money was taken" in first.text
        player.again(gateway, first, plan)


@pytest.mark.parametrize(("given", "asked"), [("interface", 3), ("finipay", 2)])
def test_places_of_the_identifier_are_tried_one_after_the_other(player: Player, given: str, asked: int) -> None:
    with running(by_quid()) as gateway:
        first = player.play(gateway, MBANK, kassa.Dialect.named(given))
        assert first.has_problem("in the place of the order number")
        assert gateway.count("/confirm") == asked
        assert first.dialect["mbank_identifier"] == {"pointers": ["/data/quid"], "confirm_field": "orderNumber"}
        player.again(gateway, first, MBANK)


def test_probe_learns_nothing_from_html_or_empty_responses(player: Player) -> None:
    with running(pages()) as gateway:
        ran = player.play(gateway, PLAN)
        assert ran.has_problem("no response came, or an empty one")
        assert ran.has_problem("it is not an answer")
        assert ran.dialect == {"base": "interface"}
        assert gateway.count("/confirm") == 0, "nothing is known of what would be confirmed"
    for what in ("- mobile bank (order number ", "- card "):
        told = [line for line in ran.text.splitlines() if line.startswith(what)]
        assert any(line.endswith("PENDING: its outcome is unknown") for line in told), ran.text


def test_probe_learns_nothing_from_unknown_order_number(player: Player) -> None:
    with running(slow()) as gateway:
        declined = player.play(gateway, replace(MBANK, says_yes=False))
        assert declined.dialect == {"base": "interface"}
        asked = player.play(gateway, replace(PLAN, status_query="nobody-7"))
        assert asked.dialect == {"base": "interface"}
        assert asked.has_problem("no form of the status query finds this number")


def test_probe_rejects_charged_word_seen_before_confirming(player: Player) -> None:
    with running(renamed()) as gateway:
        ran = player.play(gateway, replace(MBANK, charged_words=("new",)))
    assert ran.has_problem("this word does not mean charged")
    assert "charged_words" not in ran.dialect


def test_probe_does_not_confirm_payment_read_as_charged_early(player: Player) -> None:
    with running(renamed()) as gateway:
        ran = player.play(gateway, MBANK, kassa.Dialect.from_json('{"charged_words": ["NEW"]}'))
        assert gateway.count("/confirm") == 0
    assert ran.has_problem("the given dialect reads that as charged")
    assert "Skipped: mobile bank: confirm" in ran.text


def with_words_of_qr_status(words: list[str]) -> kassa.Dialect:
    """The endpoint `qr_status` of the complete gateway's dialect has words of its own, in place of the whole dialect's."""
    endpoints: dict[str, Any] = {"qr_status": {"charged_words": words}}
    endpoints.update(cast("dict[str, Any]", COMPLETE["endpoints"]))
    return kassa.Dialect.from_json(json.dumps({**COMPLETE, "endpoints": endpoints}))


@pytest.mark.parametrize(("words", "left"), [(["PAID", "created"], ["PAID"]), (["CREATED"], None)])
@pytest.mark.parametrize(
    ("step", "named", "told"),
    [
        ("mbank", ("Created",), "this word does not mean charged"),
        ("qr", (), "the given dialect reads that as charged"),
        ("qr", ("Created",), "the given dialect reads that as charged"),
    ],
)
def test_probe_removes_wrong_charged_word_everywhere(
    player: Player, step: str, named: tuple[str, ...], told: str, words: list[str], left: list[str] | None
) -> None:
    with running(complete(kassa.QrCode("a code").png(400))) as gateway:
        ran = player.play(gateway, replace(PLAN, steps=(step,), charged_words=named), with_words_of_qr_status(words))
    assert ran.has_problem(told), ran.problems
    own = ran.dialect.get("endpoints", {}).get("qr_status", {}).get("charged_words")
    assert own == left, ran.dialect
    assert "charged_words" not in ran.dialect
    kassa.Dialect.from_json(json.dumps(ran.dialect))


@pytest.mark.parametrize("is_seen", [True, False])
def test_probe_polls_unknown_confirmation_and_never_resends(player: Player, is_seen: bool) -> None:
    plan = replace(MBANK, wait=PATIENCE if is_seen else 0, pause=0.001)
    with running(slow()) as gateway:
        ran = player.play(gateway, plan, kassa.Dialect.named("finipay"))
        assert gateway.count("/confirm") == 1
    assert ("charged: the test money was taken" in ran.text) is is_seen
    assert ran.has_problem("the outcome of the confirmation is unknown") is not is_seen


def test_complete_probe_run_reports_all_read(player: Player) -> None:
    given, plan = kassa.Dialect.from_json(json.dumps(COMPLETE)), replace(PLAN, says_yes=False)
    with running(complete(kassa.QrCode("a code").png(400))) as gateway:
        ran = player.play(gateway, plan, given, typed="y\n" * 20)
        assert ran.is_clean, ran.problems
        assert ALL_READ in ran.text
        # Nobody is there to open the pay-form's page.
        alone = player.play(gateway, replace(plan, says_yes=True), given)
        assert alone.is_clean
        assert "Nobody opened the page of the pay-form" in alone.text
        assert ALL_READ not in alone.text


def test_interrupted_probe_run_does_not_report_all_read(player: Player) -> None:
    broken_off = Probe(PLAN, kassa.Dialect())
    broken_off.conclude()
    told = player.captured.readouterr().out
    assert "Not run to the end: mbank, card, pay-form, qr-image, qr" in told
    assert ALL_READ not in told


INTERRUPTIBLE = """
import signal, sys
from kassa.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""
"""Whoever runs the tests in the background has Ctrl-C ignored, and children inherit that."""


def unending() -> Answer:
    """The complete gateway, whose payments stay open whatever is confirmed."""
    ending = complete(b"")

    def answer(path: str, sent: dict[str, Any]) -> tuple[int, str]:
        status, text = ending(path, sent)
        return status, text.replace("CHARGE", "CREATED")

    return answer


def test_files_are_written_after_ctrl_c(tmp_path: Path) -> None:
    given, found, report = (tmp_path / name for name in ("given.json", "found.json", "report.md"))
    given.write_text(json.dumps(COMPLETE), encoding="utf-8")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KASSA_")}
    with running(unending()) as gateway:
        host = gateway.url.removeprefix("http://")
        arguments = ["probe", "--test-environment", host, "--yes", "--only", "mbank", "--wait", "3600"]
        arguments += ["--write-dialect", str(found), "--report", str(report)]
        own = {"KASSA_URL": gateway.url, "KASSA_LOGIN": LOGIN, "KASSA_PASSWORD": PASSWORD, "KASSA_DIALECT": str(given)}
        with subprocess.Popen(
            [sys.executable, "-W", "error", "-c", INTERRUPTIBLE, *arguments],
            env={**inherited, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as probe:
            end = time.monotonic() + PATIENCE
            while gateway.count("/confirm") == 0:
                assert probe.poll() is None, probe.communicate()
                assert time.monotonic() < end
                time.sleep(0.01)
            probe.send_signal(signal.SIGINT)
            told, complaints = probe.communicate(timeout=PATIENCE)
    assert (probe.returncode, complaints) == (130, "")
    written = report.read_text(encoding="utf-8")
    for text in (told, written):
        assert "Not run to the end: mbank, card, pay-form, qr-image, qr" in text
        assert "mobile bank: create" in text
        assert "PENDING: " in text, "nobody knows yet what came of the confirmation"
        assert ALL_READ not in text
    dialect = kassa.Dialect.from_json(found.read_text(encoding="utf-8"))
    assert dialect == kassa.Dialect.from_json(json.dumps(COMPLETE)), "nothing had to be learned"


def test_probe_with_skipped_or_unread_parts_is_not_all_read(player: Player) -> None:
    with running(by_quid()) as gateway:
        declined = player.play(gateway, replace(PLAN, says_yes=False))
        assert not declined.is_clean
        assert "Skipped: pay-form" in declined.text
        assert ALL_READ not in declined.text
        assert gateway.count("status") == len(gateway.paths), "nothing is created without permission"
        found = player.play(gateway, MBANK, kassa.Dialect.named("finipay")).dialect
        some = player.play(gateway, MBANK, kassa.Dialect.from_json(json.dumps(found)))
    assert some.is_clean
    assert ALL_READ not in some.text
    for part in (
        "Not read in responses of mbank_payment:",
        "/data/dateTime",
        "Not run to the end: card, pay-form, qr-image, qr",
    ):
        assert part in some.text


def test_given_number_is_asked_about_and_nothing_is_created(player: Player) -> None:
    with running(by_quid()) as gateway:
        with kassa.Gateway(gateway.url, kassa.Credentials(LOGIN, PASSWORD)) as client:
            client.create_mbank_payment(
                kassa.MbankPayment(order_number="order-7", phone=PHONE, amount_som=1, comment="A test")
            )
        ran = player.play(gateway, replace(PLAN, status_query="order-7", says_yes=False))
        assert len(gateway.paths) - gateway.count("status") == 1, "the one of the test itself"
    assert ran.is_clean, ran.problems
    assert '"CREATED", amount 1' in ran.text


def test_probe_verifies_number_per_provider(player: Player) -> None:
    """The gateway answers about any number of one provider's, so its answer proves none of them."""
    of_nobody: list[str] = []

    def answer(path: str, sent: dict[str, Any]) -> tuple[int, str]:
        if path == f"{BASE}/get-status" and sent["orderNumber"] != "order-7":
            of_nobody.append(sent["provider"])
        if path == f"{BASE}/get-status" and sent["provider"] == "MBank":
            word = {"orderNumber": sent["orderNumber"], "amount": 1, "currency": "KGS", "status": "CREATED"}
            return enveloped("200", word)
        return 404, json.dumps({"code": "404", "message": "no such payment"})

    with running(answer) as gateway:
        ran = player.play(gateway, replace(PLAN, status_query="order-7"))
    assert ran.has_problem("no form of the status query finds this number"), ran.problems
    assert of_nobody == ["Cards", "MBank"], "the first question of all, and the one that proves"


@pytest.mark.parametrize(
    ("dialect", "report", "written"),
    [("x" * 300, "report.md", ["report.md"]), ("found.json", "x" * 300, ["found.json"]), ("x" * 300, "y" * 300, [])],
)
def test_probe_writes_other_file_when_one_fails(
    player: Player, tmp_path: Path, dialect: str, report: str, written: list[str]
) -> None:
    """No file system takes such a name. What a run has found is not lost with it."""
    files = [str(tmp_path / dialect), str(tmp_path / report)]
    first = next(file for file in files if len(Path(file).name) == 300)
    with running(by_quid()) as gateway:
        player.patched.setenv("KASSA_URL", gateway.url)
        host = gateway.url.removeprefix("http://")
        arguments = ["probe", "--test-environment", host, "--yes", "--only", "mbank", "--wait", "0"]
        code = main([*arguments, "--write-dialect", files[0], "--report", files[1]])
    told = player.captured.readouterr()
    assert "== What happened to the money" in told.out
    assert f"{first} cannot be written: " in told.err
    assert code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == written


def echoing(otp: str) -> Answer:
    """Repeats a one-time password in a text and as a number, in a text that is no text for a terminal."""

    def answer(path: str, sent: dict[str, Any]) -> tuple[int, str]:
        if path.endswith("/mbank/pay"):
            strange = "\x1b[2J | `x`\n# Heading"
            return enveloped("110", {"amount": 1, "hint": f"use {otp}", "pin": int(otp), "note": strange})
        if path.endswith("/confirm"):
            return 400, json.dumps({"code": "13", "message": f"no\x1b[2J | `x`\n# Heading {otp}."})
        word = {"orderNumber": sent.get("orderNumber"), "amount": 1, "status": "CREATED"}
        return enveloped("200", word)

    return answer


def test_gateway_text_is_masked_and_escaped(player: Player) -> None:
    with running(echoing("451207")) as gateway:
        ran = player.play(gateway, replace(MBANK, otp="451207"))
    assert "451207" not in ran.text
    assert "\x1b" not in ran.text
    assert "\n# Heading" not in ran.text
    assert "\\| \\`x\\`" in ran.text


def test_text_is_escaped_for_markdown() -> None:
    assert prose("a|b `c`\n# d <i>") == "a\\|b \\`c\\`\\\\n# d &lt;i>"
    assert code("/a`b") == "``/a`b``"
    assert fenced("", "``` x\r\ny\x07") == "````\n``` x\ny\\x07\n````"


def test_scrubber_masks_phones_logins_and_passwords() -> None:
    scrubber = Scrubber(Plan(otp="0451207"), ["merchant-7"])
    for text, clean in (
        ("to +996 (772) 14-00-14.", "to +*** (***) **-**-**."),
        ("1012996700123456110", "1012************110"),
        ("user merchant-7, not merchant-77", "user ***, not merchant-77"),
        ('{"otp":"0451207"}', '{"otp":"***"}'),
        ('{"otp":451207}', '{"otp":***}'),
        ("wrong code0451207x", "wrong code***x"),
        ("order 90451207", "order 90451207"),
    ):
        assert scrubber.text(text) == clean


def test_invalid_status_word_error_names_word_and_rule() -> None:
    for charged, rejected, word, rule in (
        ("", "NO", '""', "is blank"),
        ("  ", "NO", '"  "', "is blank"),
        ("OK", "--", '"--"', "neither a letter nor a digit"),
        ("w" * 65, "NO", "wwww", "longer than 64"),
        ("Done", "DONE", '"Done"', "both charged and rejected"),
        ("reject", "NO", '"reject"', "means rejected in the given dialect"),
        ("OK", "charge", '"charge"', "means charged in the given dialect"),
    ):
        with pytest.raises(CouldNotRun) as refused:
            check_words(Plan(charged_words=(charged,), rejected_words=(rejected,)), kassa.Dialect())
        assert word in str(refused.value)
        assert rule in str(refused.value)
    check_words(Plan(charged_words=("PAID", "charge"), rejected_words=("NO",)), kassa.Dialect())


def test_host_is_compared_with_its_port_and_in_any_letter_case() -> None:
    assert confirmed_host("https://Pay.Example.kg/x", "pay.example.KG:443") == "pay.example.kg"
    assert confirmed_host("http://[::1]:8080", "[::1]:8080") == "[::1]:8080"
    for url, named in (("https://pay.example.kg", "pay.example"), ("http://127.0.0.1:8080", "127.0.0.1")):
        with pytest.raises(CouldNotRun, match=r"names .*, and the host of KASSA_URL is"):
            confirmed_host(url, named)


def test_proposal_keeps_base_dialect_locations_first() -> None:
    proposal = Proposal(kassa.Dialect.named("finipay"))
    assert proposal.put("mbank_payment", "gateway_number", "/other/number")
    assert proposal.set_identifier("/other/number", None)
    assert proposal.form["endpoints"]["mbank_payment"]["gateway_number"][-2:] == ["/data/quid", "/other/number"]
    assert proposal.form["mbank_identifier"]["pointers"] == ["/data/quid", "/other/number"]
    # Neither a wildcard nor a masked code.
    assert not proposal.put_success_code("mbank_payment", "*")
    assert not proposal.put_success_code("mbank_payment", "1*")
