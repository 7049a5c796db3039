"""The pages."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import kassa
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates

from . import catalogue
from .following import Follower
from .forms import complaints, read_card, read_form
from .judging import Judge
from .orders import Order, Orders, Payment, PaymentUnderWay
from .payments import Payments, takes_mbank
from .states import State
from .views import OrderView, money

TEMPLATES = Jinja2Templates(Path(__file__).parent / "templates")
TEMPLATES.env.filters["money"] = money  # pyright: ignore[reportUnknownMemberType]


class Pages:
    """What payers see and press."""

    def __init__(
        self, orders: Orders, payments: Payments, follower: Follower, judge: Judge, *, is_sandbox: bool
    ) -> None:
        self._orders = orders
        self._payments = payments
        self._follower = follower
        self._judge = judge
        self._is_sandbox = is_sandbox

    def routes(self) -> list[Route]:
        """Their addresses."""
        order = "/orders/{reference}"
        return [
            Route("/", self.product),
            Route("/orders", self.place_order, methods=["POST"]),
            Route(order, self.show_order, name="order"),
            Route(f"{order}/status", self.show_status),
            Route(f"{order}/qr.svg", self.show_qr),
            Route(f"{order}/card", self.show_card_form),
            Route(f"{order}/card", self.pay_by_card, methods=["POST"]),
            Route(f"{order}/mbank", self.show_mbank_form),
            Route(f"{order}/mbank", self.pay_by_mbank, methods=["POST"]),
            Route(f"{order}/otp", self.confirm_mbank, methods=["POST"]),
            Route(f"{order}/pay-form", self.pay_by_pay_form, methods=["POST"]),
            Route(f"{order}/qr", self.pay_by_qr, methods=["POST"]),
        ]

    # What is sold

    async def product(self, request: Request) -> Response:
        """The product."""
        return self._page(request, "product.html")

    async def place_order(self, request: Request) -> Response:
        """Makes an order of it."""
        form = await read_form(request)
        cart = catalogue.read_cart(form.get("quantity", ""), form.get("gift_box", ""))
        if cart is None:
            error = f"Choose a quantity from 1 to {catalogue.MOST}."
            return self._page(request, "product.html", status_code=422, error=error)
        return _go_to(self._orders.add_order(cart))

    # The order

    async def show_order(self, request: Request) -> Response:
        """The order, and where its payment stands."""
        order = self._order(request)
        view = self._view(order)
        if view.payment is not None and view.is_waiting:
            self._follower.look(view.payment.id)
            self._judge.look(view.payment.id)
        return self._page(request, "order.html", view=view, takes_mbank=takes_mbank(order.amount))

    async def show_status(self, request: Request) -> Response:
        """The part of that page that changes, where it has changed: the page's script asks for it."""
        order = self._order(request)
        view = self._view(order)
        if view.payment is not None:
            self._follower.look(view.payment.id)
        if request.query_params.get("seen") == view.version:
            return Response(status_code=204)
        return self._page(request, "status.html", view=view, takes_mbank=takes_mbank(order.amount))

    async def show_qr(self, request: Request) -> Response:
        """The QR code, as a picture."""
        entry = self._view(self._order(request)).entry
        if entry is None or entry.qr_text is None:
            raise HTTPException(404)
        return Response(kassa.QrCode(entry.qr_text).svg(), media_type="image/svg+xml")

    # The ways to pay it

    async def pay_by_pay_form(self, request: Request) -> Response:
        """Sends the payer to the gateway's own page."""
        order = self._order(request)
        return await self._pay(order, self._payments.by_pay_form(order))

    async def pay_by_qr(self, request: Request) -> Response:
        """Shows a QR code on the order's page."""
        order = self._order(request)
        return await self._pay(order, self._payments.by_qr(order))

    async def show_card_form(self, request: Request) -> Response:
        """The form for card data."""
        order = self._order(request)
        return self._page(request, "card.html", order=order) if self._view(order).can_choose else _go_to(order)

    async def pay_by_card(self, request: Request) -> Response:
        """Sends a card payment, and the payer to the bank's page where there is one."""
        order = self._order(request)
        form = await read_form(request)
        ip = request.client.host if request.client else "127.0.0.1"
        try:
            return await self._pay(order, self._payments.by_card(order, read_card(form), ip))
        except kassa.Invalid as error:
            # Card data is never put into a page.
            errors = complaints(error.violations)
            if not errors:
                raise  # it was nothing that the payer typed
            return self._page(request, "card.html", status_code=422, order=order, errors=errors)

    async def show_mbank_form(self, request: Request) -> Response:
        """The form for the phone number."""
        order = self._order(request)
        if not self._view(order).can_choose or not takes_mbank(order.amount):
            return _go_to(order)
        return self._page(request, "mbank.html", order=order)

    async def pay_by_mbank(self, request: Request) -> Response:
        """Sends a mobile-bank payment; the order's page then asks for the code."""
        order = self._order(request)
        if not takes_mbank(order.amount):
            return _go_to(order)
        phone = (await read_form(request)).get("phone", "")
        try:
            return await self._pay(order, self._payments.by_mbank(order, phone))
        except kassa.Invalid as error:
            errors = complaints(error.violations)
            return self._page(request, "mbank.html", status_code=422, order=order, phone=phone, errors=errors)

    async def confirm_mbank(self, request: Request) -> Response:
        """Sends the one-time password."""
        order = self._order(request)
        otp = (await read_form(request)).get("otp", "")
        payment = self._orders.latest_payment(order)
        if payment is not None and payment.ref.kind == kassa.PaymentKind.MBANK:
            await self._payments.confirm_mbank(payment, otp)
        return _go_to(order)

    # What they share

    async def _pay(self, order: Order, sending: Awaitable[Payment]) -> Response:
        try:
            payment = await sending
        except PaymentUnderWay:
            # The button was pressed twice, or the page was an old one: the order's page shows what there is.
            return _go_to(order)
        entry = self._follower.entry(payment)
        if payment.state == State.AWAITING_PAYER and entry is not None and entry.page_url is not None:
            return RedirectResponse(entry.page_url, 303)
        return _go_to(order)

    def _order(self, request: Request) -> Order:
        order = self._orders.order(request.path_params["reference"])
        if order is None:
            raise HTTPException(404)
        return order

    def _view(self, order: Order) -> OrderView:
        payment = self._orders.latest_payment(order)
        return OrderView(order, payment, self._follower.entry(payment) if payment else None)

    def _page(self, request: Request, template: str, status_code: int = 200, **context: Any) -> Response:
        context = {"is_sandbox": self._is_sandbox, "catalogue": catalogue, **context}
        return TEMPLATES.TemplateResponse(request, template, context, status_code)


def _go_to(order: Order) -> Response:
    return RedirectResponse(f"/orders/{order.reference}", 303)


async def show_problem(request: Request, error: Exception) -> Response:
    """The page for an address that does not exist, and the like."""
    status_code = error.status_code if isinstance(error, HTTPException) else 500
    return TEMPLATES.TemplateResponse(request, "problem.html", {"status_code": status_code}, status_code)
