"""What is Python's own about a checkout: Ctrl-C, threads, tasks, forks, and who holds what."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conformance.patience import PATIENCE
from conformance.stage import Scene, Stage
from test_fork import in_child

import kassa
from kassa.checkout import (
    AsyncCheckout,
    AsyncCheckoutStates,
    Checkout,
    CheckoutDetails,
    CheckoutLabels,
    CheckoutMessage,
    CheckoutTexts,
    DeclineReason,
    EnterOtp,
    MessageTopic,
    Opening,
    OpenPage,
    Paid,
    PaymentMethod,
    Ready,
    ShowQr,
    Waiting,
    amount_text,
)

NOBODY = "http://127.0.0.1:1"


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


@pytest.fixture
def scene(stage: Stage) -> Scene:
    return stage.open()


def test_payer_pays(scene: Scene) -> None:
    with Checkout(scene.server_url, scene.client_token) as checkout:
        for state in checkout.states():
            match state:
                case Ready():
                    checkout.pay_by_mbank("996555000101")
                case EnterOtp():
                    checkout.confirm("101101")
                case Paid(amount, currency):
                    assert (str(amount), currency) == ("390", "KGS")
                    break
                case _:
                    pass
        details = checkout.details
        assert details is not None
        assert details.expires_at.utcoffset() is not None


def test_readmes_payment_screen_pays(scene: Scene) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    [program] = (
        block for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "checkout.EnterOtp" in block
    )
    assert "https://pay.shop.example.kg" in program
    said: list[str] = []
    app = {
        "client_token": scene.client_token,
        "new_token_from_the_shop": scene.new_token,
        "typed": {"phone": "996555000101", "code": "101101"}.__getitem__,
        "show": said.append,
    }
    exec(program.replace("https://pay.shop.example.kg", scene.server_url), app)  # noqa: S102
    assert said == ["How do you want to pay?", "The bank has sent you a code.", "Thank you: 390 KGS"]


def test_each_iterator_has_all_states_for_itself_until_it_is_closed() -> None:
    with Checkout(NOBODY, "ct_none") as checkout:
        first, second = checkout.states(), checkout.states()
        assert isinstance(next(first), Opening)
        assert isinstance(next(second), Opening)
    assert list(first) == []
    assert list(second) == []
    with pytest.raises(kassa.Misconfigured, match="closed"):
        checkout.pay_by_qr()


def test_ctrl_c_is_heard_while_a_state_is_waited_for(scene: Scene) -> None:
    # Who runs the tests in the background has it ignored, and children inherit that.
    program = f"""
import signal
from kassa.checkout import Checkout
signal.signal(signal.SIGINT, signal.default_int_handler)
with Checkout({scene.server_url!r}, {scene.client_token!r}) as checkout:
    for state in checkout.states():
        print(state.kind, flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        while running.stdout.readline() != "ready\n":
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, problems = running.communicate(timeout=PATIENCE)
    assert problems.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.parametrize("ends", ["closed", "let go of"])
def test_thread_of_the_renewal_ends_with_the_checkout(scene: Scene, ends: str) -> None:
    called, go_on = threading.Event(), threading.Event()

    def renew_token() -> str:
        called.set()
        assert go_on.wait(PATIENCE)
        raise OSError("the shop does not answer")

    held = [Checkout(scene.server_url, "ct_none", renew_token=renew_token)]
    states = held[0].states()
    assert called.wait(PATIENCE)
    [renewal] = (each for each in threading.enumerate() if each.name == "kassa token renewal")
    assert renewal.daemon
    if ends == "closed":
        held[0].close()
    held.clear()
    gc.collect()
    assert [state for state in states if not isinstance(state, Opening)] == []
    go_on.set()
    renewal.join(PATIENCE)
    assert not renewal.is_alive()


@pytest.mark.parametrize("ends", ["closed", "let go of"])
def test_task_of_the_renewal_is_cancelled_with_the_checkout(scene: Scene, ends: str) -> None:
    async def app() -> None:
        called, cancelled = asyncio.Event(), asyncio.Event()

        async def renew_token() -> str:
            called.set()
            try:
                return await asyncio.Future()
            finally:
                cancelled.set()

        held = [AsyncCheckout(scene.server_url, "ct_none", renew_token=renew_token)]
        states = held[0].states()
        await asyncio.wait_for(called.wait(), PATIENCE)
        if ends == "closed":
            held[0].close()
        held.clear()
        gc.collect()
        await asyncio.wait_for(cancelled.wait(), PATIENCE)
        assert [state async for state in states if not isinstance(state, Opening)] == []

    asyncio.run(app())


def test_token_of_wrong_type_is_reported_and_renewed(scene: Scene) -> None:
    tokens: Any = iter([17, scene.client_token])
    with Checkout(scene.server_url, "ct_none", renew_token=lambda: next(tokens)) as checkout:
        messages = [state.message for state in _until_ready(checkout) if isinstance(state, Opening)]
        assert CheckoutMessage(MessageTopic.TOKEN_NOT_RENEWED, "renew_token must be a str, not int") in messages


def _until_ready(checkout: Checkout) -> Iterator[object]:
    for state in checkout.states():
        yield state
        if isinstance(state, Ready):
            return


def test_cancelled_wait_loses_no_state(scene: Scene) -> None:
    async def app() -> None:
        async with AsyncCheckout(scene.server_url, scene.client_token) as checkout:
            states = checkout.states()
            async for state in states:
                if isinstance(state, Ready):
                    break
            waiting = asyncio.ensure_future(anext(states))
            # No other state is due until the payer acts, so a slow machine cannot fail this.
            done, _ = await asyncio.wait([waiting], timeout=0.01)
            assert not done
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            checkout.pay_by_qr()
            shown = [state async for state in _until_shown(states)][-1]
            assert checkout.state == shown

    asyncio.run(app())


async def _until_shown(states: AsyncCheckoutStates) -> AsyncIterator[object]:
    async for state in states:
        yield state
        if isinstance(state, ShowQr):
            return


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_checkout_is_the_process_s_that_opened_it(scene: Scene) -> None:
    held = [Checkout(scene.server_url, scene.client_token, renew_token=scene.new_token)]
    states = held[0].states()

    def work() -> None:
        for act in (held[0].pay_by_qr, held[0].states, lambda: held[0].state, lambda: next(states)):
            with pytest.raises(kassa.Misconfigured, match="fork"):
                act()
        held.clear()
        gc.collect()
        with Checkout(scene.server_url, scene.client_token) as own:
            assert [*_until_ready(own)]

    in_child(work)
    assert [*_until_ready(held[0])]
    held[0].close()


def test_nothing_secret_is_printed_or_pickled() -> None:
    with Checkout(NOBODY, "ct_secret", proxy=kassa.Proxy.environment()) as checkout:
        assert f"{checkout!r} {checkout}" == f"Checkout('{NOBODY}') Checkout('{NOBODY}')"
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(checkout)
        with pytest.raises(kassa.Invalid) as refused:
            checkout.pay_by_qr()
        assert [violation.rule for violation in refused.value.violations] == [kassa.Rule.STATE]
    with pytest.raises(kassa.Misconfigured) as problem:
        Checkout("http://shop.example.kg", "ct_secret")
    assert "server_url" in str(problem.value)
    assert "ct_secret" not in str(problem.value)
    with pytest.raises(ValueError, match="connect_timeout must be longer than zero"):
        Checkout(NOBODY, "ct_secret", connect_timeout=0)
    with pytest.raises(TypeError, match="client_token must be a str"):
        Checkout(NOBODY, b"ct_secret")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_who_has_no_checkout_does_not_load_it() -> None:
    program = "import sys, kassa; sys.exit('kassa.checkout' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_message_is_a_sentence_in_every_language() -> None:
    said = [
        CheckoutMessage(topic, "no money").text_in(language) for topic in MessageTopic for language in kassa.Language
    ]
    assert len(set(said)) == len(said)
    assert all(text.endswith(".") for text in said)


def test_message_says_why_in_the_payers_language() -> None:
    for decline in DeclineReason:
        message = CheckoutMessage(MessageTopic.REJECTED, "DECLINED 51", decline)
        reasons = {message.reason_in(language) for language in kassa.Language}
        assert len(reasons) == 3
        assert None not in reasons
    assert CheckoutMessage(MessageTopic.REJECTED, "DECLINED 51").reason_in(kassa.Language.ENGLISH) is None


def test_screen_has_words_for_each_way_to_pay_and_each_state() -> None:
    labels = CheckoutLabels.of(kassa.Language.ENGLISH)
    assert [labels.name_of(method) for method in PaymentMethod] == [
        "Card or wallet",
        "QR code",
        "MBank",
        "MegaPay",
        "Card",
    ]
    assert len({labels.hint_of(method) for method in PaymentMethod}) == len(PaymentMethod)
    # No text depends on the amount, which may be none that the core has.
    texts = CheckoutTexts.of(Paid(Decimal("NaN"), "KGS"), kassa.Language.KYRGYZ, may_have_paid=True)
    assert texts.title == "Төлөндү"
    page = OpenPage("\ud83d", begun_here=True, methods=())
    for odd in (
        EnterOtp(PaymentMethod.MBANK, -1),
        EnterOtp(PaymentMethod.MBANK, 2**40),
        page,
        ShowQr("\ud83d"),
        Waiting("\ud83d", ()),
    ):
        assert CheckoutTexts.of(odd, kassa.Language.ENGLISH, may_have_paid=False).title
    with pytest.raises(kassa.Invalid):
        amount_text(Decimal("NaN"), "KGS", kassa.Language.ENGLISH)
    with pytest.raises(TypeError, match=r"state must be a kassa\.checkout\.CheckoutState"):
        CheckoutTexts.of("paid", kassa.Language.ENGLISH, may_have_paid=False)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_cost_of_a_wallet_is_shown_before_its_code() -> None:
    def cost(commission: str | None = None, total: str = "255.51") -> str | None:
        amount = None if commission is None else Decimal(commission)
        in_all = None if commission is None else Decimal(total)
        state = EnterOtp(PaymentMethod.MEGAPAY, 3, commission=amount, total=in_all, code_expires_at=datetime.max)
        return CheckoutTexts.of(state, kassa.Language.ENGLISH, may_have_paid=False).cost

    assert cost("5.01") == "You pay 255.51\u00a0som (amount 250.50\u00a0som, commission 5.01\u00a0som)."
    unknown = "MegaPay may charge a commission. The amount is not known."
    assert cost() == unknown
    for odd in ("NaN", "1E+40"):
        assert cost(odd) == cost("5.01", odd) == unknown
    bank = EnterOtp(PaymentMethod.MBANK, 3)
    assert CheckoutTexts.of(bank, kassa.Language.ENGLISH, may_have_paid=False).cost is None


def test_expiry_of_a_code_is_a_moment_in_utc(stage: Stage) -> None:
    scene = stage.open({"megapay": True})
    with Checkout(scene.server_url, scene.client_token) as checkout:
        for state in checkout.states():
            match state:
                case Ready():
                    checkout.pay_by_megapay("0755 000 201")
                case EnterOtp(code_expires_at=expires_at):
                    assert expires_at is not None
                    assert expires_at.utcoffset() == timedelta(0)
                    assert timedelta(0) < expires_at - datetime.now(timezone.utc) < timedelta(minutes=10)
                    break
                case _:
                    pass


def test_what_is_to_be_paid_is_told_as_people_write_it() -> None:
    moment = datetime(2026, 11, 20, tzinfo=timezone.utc)
    details = CheckoutDetails("o-1", Decimal("1390.50"), "KGS", "Tea", (PaymentMethod.QR,), "shop://paid", moment)
    assert details.amount_text(kassa.Language.ENGLISH) == "1,390.50\u00a0som"
    assert details.pay_text(kassa.Language.KYRGYZ) == "1\u00a0390,50\u00a0сом төлөө"
