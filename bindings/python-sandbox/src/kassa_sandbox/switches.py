"""The sandbox's switches."""

from __future__ import annotations

from ._admin import Admin
from ._names import DialectName
from .values import Language, MbankQuid, ReusedOrderNumber, StatusNumbers, SwitchValues, switch_values


class Switches:
    """How the sandbox behaves where the gateway's interface leaves it open. A ``reset`` puts them back."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    def read(self) -> SwitchValues:
        """How they stand."""
        return switch_values(self._admin.ask("GET", "switches"))

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
        """Changes those that are given, from the next request on; how they stand then."""
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
        return switch_values(self._admin.ask("PATCH", "switches", given))
