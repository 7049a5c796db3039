"""The pages on which the sandbox is controlled and its interface is described."""

from __future__ import annotations

import pytest
from kassa_sandbox import Sandbox
from playwright.sync_api import expect

from shop import Shop
from staff import check_held
from visitor import HELD, Size, Visit, Visitor


def enter(visitor: Visitor, sandbox: Sandbox) -> None:
    """Opens the control page with the admin token."""
    visitor.open(f"{sandbox.base_url}/control")
    visitor.page.get_by_label("Admin token").fill(sandbox.admin_token)
    visitor.press("Continue")
    expect(visitor.page.get_by_role("heading", name="Switches")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", ["small", "tablet", "desktop"])
def test_both_pages_are_accessible_and_fit(visit: Visit, kassa_sandbox: Sandbox, size: Size, dark: bool) -> None:
    visitor = visit(size=size, dark=dark)
    visitor.open(f"{kassa_sandbox.base_url}/api")
    visitor.page.locator("summary").first.click()
    visitor.look("api")
    if size in HELD:
        check_held(visitor)
    visitor.open(f"{kassa_sandbox.base_url}/control")
    visitor.look("control-login")
    kassa_sandbox.faults.add("response-lost", order_number="ORDER-1", times=1)
    kassa_sandbox.faults.add("unavailable", endpoint="status", probability=0.05, seed=7)
    enter(visitor, kassa_sandbox)
    visitor.page.get_by_text("Settings of single faults").click()
    visitor.page.get_by_text("What each fault does").click()
    visitor.look("control")
    if size in HELD:
        check_held(visitor)


def test_groups_are_named_and_reached_from_the_top(visit: Visit, kassa_sandbox: Sandbox) -> None:
    visitor = visit(size="small")
    enter(visitor, kassa_sandbox)
    groups = visitor.page.get_by_role("navigation", name="Groups").get_by_role("link")
    names = groups.all_inner_texts()
    assert names == visitor.page.get_by_role("heading", level=2).all_inner_texts()
    for name in names:
        groups.filter(has_text=name).click()
        expect(visitor.page.get_by_role("heading", level=2, name=name)).to_be_in_viewport()
        expect(visitor.page.get_by_role("region", name=name).locator("p").first).not_to_be_empty()
    options = visitor.page.get_by_label("Fault", exact=True).locator("optgroup")
    expect(options).to_have_count(4)
    expect(options.last.locator("option").first).to_have_text("callback-lost")


def test_stranger_sees_nothing(visit: Visit, kassa_sandbox: Sandbox) -> None:
    stranger = visit()
    stranger.open(f"{kassa_sandbox.base_url}/control")
    stranger.page.get_by_label("Admin token").fill("guess")
    with stranger.refused(403):
        stranger.press("Continue")
        expect(stranger.page.get_by_role("alert")).to_have_text("This is not the admin token.")
    expect(stranger.page.get_by_role("heading", name="Switches")).to_have_count(0)


def test_switches_are_set_and_shown(visit: Visit, kassa_sandbox: Sandbox) -> None:
    visitor = visit()
    enter(visitor, kassa_sandbox)
    visitor.page.get_by_label("A reused order number").select_option("charge-twice")
    visitor.page.get_by_label("3DS 1.0 cards").check()
    visitor.press("Set the switches")
    expect(visitor.page.get_by_role("status")).to_have_text("The switches were set.")
    switches = kassa_sandbox.switches.read()
    assert (switches.reused_order_number, switches.three_ds_1_page) == ("charge-twice", True)
    expect(visitor.page.get_by_label("A reused order number")).to_have_value("charge-twice")
    expect(visitor.page.get_by_label("3DS 1.0 cards")).to_be_checked()


def test_faults_are_set_refused_and_removed(visit: Visit, kassa_sandbox: Sandbox) -> None:
    visitor = visit()
    enter(visitor, kassa_sandbox)
    visitor.page.get_by_label("Fault", exact=True).select_option("response-lost")
    visitor.page.get_by_label("Only for the order").fill("ORDER-1")
    visitor.page.get_by_label("How often").fill("2")
    visitor.press("Set the fault")
    expect(visitor.page.get_by_role("status")).to_have_text("The fault was set.")
    (fault,) = kassa_sandbox.faults.list()
    assert (fault.name, fault.order_number, fault.times) == ("response-lost", "ORDER-1", 2)
    visitor.page.get_by_label("Fault", exact=True).select_option("delay")
    visitor.page.get_by_label("Only for the order").fill("ORDER-2")
    probability = visitor.page.get_by_label("Probability")
    probability.fill("2")
    with visitor.refused(400):
        visitor.press("Set the fault")
        expect(visitor.page.get_by_role("alert")).to_contain_text("probability: must be from 0 to 1")
    visitor.look("control-refused")
    expect(probability).to_be_focused()
    expect(probability).to_have_value("2")
    expect(probability).to_have_attribute("aria-invalid", "true")
    expect(probability).to_have_accessible_description("must be from 0 to 1")
    expect(visitor.page.get_by_label("Fault", exact=True)).to_have_value("delay")
    expect(visitor.page.get_by_label("Only for the order")).to_have_value("ORDER-2")
    assert len(kassa_sandbox.faults.list()) == 1
    visitor.page.get_by_role("button", name="Remove response-lost").click()
    expect(visitor.page.get_by_text("No faults are set")).to_be_visible()
    assert not kassa_sandbox.faults.list()


def test_clock_and_a_payment(visit: Visit, shop: Shop, kassa_sandbox: Sandbox) -> None:
    visitor = visit()
    enter(visitor, kassa_sandbox)
    visitor.page.get_by_label("Step forward by").fill("36")
    visitor.press("Step forward")
    expect(visitor.page.get_by_text("1 d 12 h ahead")).to_be_visible()
    visitor.page.get_by_label("After status queries").fill("3")
    visitor.press("Set")
    expect(visitor.page.get_by_role("status")).to_have_text("The time at which pending payments become final was set.")
    expect(visitor.page.get_by_label("After status queries")).to_have_value("3")
    shop.card_payment()
    visitor.page.get_by_label("Order number, gateway number").fill("order-17")
    visitor.press("Approve")
    expect(visitor.page.get_by_role("status")).to_have_text("The payment was decided.")
    assert kassa_sandbox.payment("order-17").times_charged == 1
    visitor.page.get_by_label("I want to forget everything").check()
    visitor.press("Reset")
    expect(visitor.page.get_by_text("as the machine's clock")).to_be_visible()
    assert not kassa_sandbox.ledger()


def test_logging_out_ends_it(visit: Visit, kassa_sandbox: Sandbox) -> None:
    visitor = visit()
    enter(visitor, kassa_sandbox)
    visitor.press("Log out")
    expect(visitor.page.get_by_label("Admin token")).to_be_visible()


def test_description_names_every_operation(visit: Visit, kassa_sandbox: Sandbox) -> None:
    visitor = visit()
    visitor.open(f"{kassa_sandbox.base_url}/api")
    visitor.page.get_by_role("link", name="Create a card payment").click()
    article = visitor.page.get_by_role("article", name="Create a card payment")
    expect(article.get_by_text("/api/v1.1.0/payment", exact=True)).to_be_in_viewport()
    expect(article.get_by_role("row", name="pan required")).to_contain_text("4111111111111111")
    answer = article.get_by_role("region", name="Response 200 of: Create a card payment")
    expect(answer.get_by_role("row", name="data.ConfirmationUrl")).to_contain_text(
        "URL of the page on which the payer confirms"
    )
    expect(visitor.page.get_by_role("article")).to_have_count(12 + 16)
    visitor.page.get_by_role("link", name="The callback", exact=True).click()
    members = visitor.page.get_by_role("region", name="Members of the callback")
    expect(members).to_be_in_viewport()
    expect(members.get_by_role("row", name="dateCreated")).to_contain_text("in Bishkek, without a time zone")
