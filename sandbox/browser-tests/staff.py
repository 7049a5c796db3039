"""What the merchant does on the dashboard."""

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
