"""The sandbox's switches."""

from __future__ import annotations

from ._admin import Admin
from ._names import DialectName
from .values import Language, MbankQuid, ReusedOrderNumber, StatusNumbers, SwitchValues, switch_values


class Switches:
    """The sandbox's behaviour where the gateway's interface is not specified. ``reset`` restores the initial values."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    def read(self) -> SwitchValues:
        """The current values."""
        return switch_values(self._admin.request("GET", "switches"))

    def change(
        self,
        *,
        reused_order_number: ReusedOrderNumber | None = None,
        status_numbers: StatusNumbers | None = None,
        three_ds_1_page: bool | None = None,
        redirect_declines: bool | None = None,
        language: Language | None = None,
        acts_as: DialectName | None = None,
        mbank_quid: MbankQuid | None = None,
    ) -> SwitchValues:
        """Changes the given values from the next request on; returns the values after that."""
        wanted = {
            "reused_order_number": reused_order_number,
            "status_numbers": status_numbers,
            "three_ds_1_page": three_ds_1_page,
            "redirect_declines": redirect_declines,
            "language": language,
            "acts_as": acts_as,
            "mbank_quid": mbank_quid,
        }
        given = {name: value for name, value in wanted.items() if value is not None}
        return switch_values(self._admin.request("PATCH", "switches", given))
