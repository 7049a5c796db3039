"""What people of the staff do."""

from __future__ import annotations

from typing import Literal, Protocol

from playwright.sync_api import expect

from history import History
from visitor import Size, Visitor


class Open(Protocol):
    """Opens a window."""

    def __call__(
        self, history: History, size: Size = "desktop", *, dark: bool = False, scripts: bool = True
    ) -> Visitor: ...


def log_in(visitor: Visitor, history: History, permission: Literal["view", "decide"] = "decide") -> None:
    """By a new key, by way of a page that asks for it."""
    with visitor.refused(401):
        visitor.open(f"{history.server.url}/staff")
    fill_login(visitor, history.server.new_staff_key("Aizada", permission))
    expect(visitor.page.get_by_role("button", name="Log out")).to_be_visible()


def fill_login(visitor: Visitor, key: str) -> None:
    """Fills the login's form and sends it."""
    visitor.page.get_by_label("Staff key").fill(key)
    visitor.press("Log in")
