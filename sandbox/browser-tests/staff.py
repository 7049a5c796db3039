"""What the merchant does on the dashboard, and how its pages have to be in a hand."""

from __future__ import annotations

from kassa_sandbox import Sandbox
from playwright.sync_api import expect

from visitor import Visitor

PAGES = {
    "start": "/",
    "transactions": "/dashboard",
    "charts": "/dashboard/charts",
    "charts-by-hour": "/dashboard/charts?by=hour",
    "analysis": "/dashboard/analysis?span=90",
    "deliveries": "/dashboard/deliveries",
    "receiver": "/dashboard/receiver",
}


SCROLLED = """() => [...document.querySelectorAll("main *")].filter(node => node.checkVisibility()
    && ["auto", "scroll"].includes(getComputedStyle(node).overflowX) && node.scrollWidth > node.clientWidth)
    .map(node => `${node.outerHTML.slice(0, 120)}: ${node.scrollWidth} px in ${node.clientWidth} px`)"""
# In CSS pixels, as Apple and WCAG (AAA) recommend. Links within text are as high as their line.
FINGER = 44
SMALL = """finger => [...document.querySelectorAll("button, select, input, textarea, summary, nav a")].filter(node =>
    node.checkVisibility() && !["hidden", "checkbox", "radio"].includes(node.type)
    && node.getBoundingClientRect().height < finger - 0.5).map(node => node.outerHTML.slice(0, 120))"""


def check_held(visitor: Visitor) -> None:
    """On a phone nothing has to be scrolled sideways, and a finger hits what it has to."""
    assert visitor.page.evaluate(SCROLLED) == [], visitor.page.url
    assert visitor.page.evaluate(SMALL, FINGER) == [], visitor.page.url


def log_in(visitor: Visitor, sandbox: Sandbox, path: str = "/dashboard") -> None:
    """Opens a page of the dashboard, by way of the login."""
    visitor.open(f"{sandbox.base_url}{path}")
    fill_login(visitor, *sandbox.credentials)
    expect(visitor.page.get_by_role("button", name="Log out")).to_be_visible()


def fill_login(visitor: Visitor, login: str, password: str) -> None:
    """Fills the login's form and sends it."""
    visitor.page.get_by_label("Login").fill(login)
    visitor.page.get_by_label("Password").fill(password)
    visitor.press("Log in")
