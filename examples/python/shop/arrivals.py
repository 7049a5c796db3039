"""What comes back from the gateway: callbacks, and payers. The query of both addresses names the shop's own payment."""

from __future__ import annotations

import kassa
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from .following import Follower
from .forms import read_body
from .judging import Judge
from .orders import Hint, Orders, Payment


class Arrivals:
    """Keeps what comes back, and has it checked."""

    def __init__(self, orders: Orders, follower: Follower, judge: Judge) -> None:
        self._orders = orders
        self._follower = follower
        self._judge = judge

    def routes(self) -> list[Route]:
        """Their addresses."""
        return [
            Route("/callback", self.take_callback, methods=["POST"]),
            Route("/return", self.take_return),
        ]

    async def take_callback(self, request: Request) -> Response:
        """A callback of the gateway, or of somebody who says so. It is stored before the answer says that it arrived."""
        payment = self._payment(request)
        try:
            callback = kassa.Callback.parse(await read_body(request))
        except kassa.Invalid as error:
            raise HTTPException(400) from error
        if not self._orders.add_hint(payment.id, Hint(callback.dedup_key(), "callback", callback.raw)):
            raise HTTPException(503)
        self._judge.look(payment.id)
        return Response(status_code=204)

    async def take_return(self, request: Request) -> Response:
        """A payer who comes back. It says nothing about the money, but it is the moment to ask."""
        payment = self._payment(request)
        try:
            number = kassa.ReturnRedirect.parse(str(request.url)).order_number
        except kassa.Invalid:
            # By the link on the bank's page, without a number.
            number = None
        if number is not None and not payment.state.is_over and not payment.ref.can_be_asked_about:
            self._orders.add_hint(payment.id, Hint(f"return {number}", "return", number))
            self._judge.look(payment.id)
        self._follower.check_now(payment.id)
        return RedirectResponse(f"/orders/{payment.order_reference}", 303)

    def _payment(self, request: Request) -> Payment:
        try:
            return self._orders.payment(request.query_params.get("payment", ""))
        except LookupError:
            raise HTTPException(404) from None
