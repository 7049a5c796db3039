"""The pages."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates

from . import catalogue
from .checkouts import CheckoutCallFailed, Checkouts
from .forms import read_form
from .orders import NotPayable, Order, Orders
from .views import OrderView, money

LOGGER = logging.getLogger("shop")
TEMPLATES = Jinja2Templates(Path(__file__).parent / "templates")
TEMPLATES.env.filters["money"] = money  # pyright: ignore[reportUnknownMemberType]


class Pages:
    """What payers see and press. Nothing here makes an order paid."""

    def __init__(self, orders: Orders, checkouts: Checkouts, public_url: str, *, is_test: bool) -> None:
        self._orders = orders
        self._checkouts = checkouts
        self._public_url = public_url
        self._is_test = is_test

    def routes(self) -> list[Route]:
        """Their addresses."""
        order = "/orders/{reference}"
        return [
            Route("/", self.product),
            Route("/orders", self.place_order, methods=["POST"]),
            Route(order, self.show_order, name="order"),
            Route(f"{order}/status", self.show_status),
            Route(f"{order}/pay", self.pay, methods=["POST"]),
            Route(f"{order}/cancel", self.cancel, methods=["POST"]),
        ]

    async def product(self, request: Request) -> Response:
        """The product."""
        return self._page(request, "product.html")

    async def place_order(self, request: Request) -> Response:
        """Makes an order of it, and sends its payer to pay."""
        form = await read_form(request)
        cart = catalogue.read_cart(form.get("quantity", ""), form.get("gift_box", ""))
        if cart is None:
            error = f"Choose a quantity from 1 to {catalogue.MOST}."
            return self._page(request, "product.html", status_code=422, error=error)
        return await self._send_to_pay(self._orders.add_order(cart))

    async def show_order(self, request: Request) -> Response:
        """The order, and how it stands. Its payer comes back here, which proves nothing."""
        return self._page(request, "order.html", view=self._view(request))

    async def show_status(self, request: Request) -> Response:
        """The part of that page that changes, where it has changed: the page's script asks for it."""
        view = self._view(request)
        if request.query_params.get("seen") == view.version:
            return Response(status_code=204)
        return self._page(request, "status.html", view=view)

    async def pay(self, request: Request) -> Response:
        """Sends the payer to pay: another time, or because the server could not be reached before."""
        return await self._send_to_pay(self._order(request))

    async def cancel(self, request: Request) -> Response:
        """Gives the order up, unless it is paid or being paid. That it is, the server tells like everything else."""
        order = self._order(request)
        try:
            for checkout in self._orders.checkouts(order)[-1:]:
                if checkout.id is not None:
                    await self._checkouts.cancel(checkout.id)
        except CheckoutCallFailed as error:
            LOGGER.info("order %s is not cancelled: %s", order.reference, error)
            return _go_to(order, "?after=kept")
        return _go_to(order, "?after=cancel")

    async def _send_to_pay(self, order: Order) -> Response:
        back = f"{self._public_url}/orders/{order.reference}?after=payment"
        try:
            checkout = self._orders.checkout_to_pay(order, back)
            page_url = checkout.page_url
            if page_url is None:
                checkout_id, page_url = await self._checkouts.open(order, checkout)
                self._orders.opened(checkout.reference, checkout_id, page_url)
                if not self._orders.standing(order).can_be_paid:
                    # It was paid by an older checkout while this one was opened.
                    await self._checkouts.cancel(checkout_id)
                    return _go_to(order)
        except NotPayable:
            # The button of an old page: the new one shows how it stands.
            return _go_to(order)
        except CheckoutCallFailed as error:
            LOGGER.warning("order %s cannot be paid now: %s", order.reference, error)
            return _go_to(order)
        return RedirectResponse(page_url, 303)

    def _order(self, request: Request) -> Order:
        order = self._orders.order(request.path_params["reference"])
        if order is None:
            raise HTTPException(404)
        return order

    def _view(self, request: Request) -> OrderView:
        order = self._order(request)
        checkouts = self._orders.checkouts(order)
        page_url = checkouts[-1].page_url if checkouts else None
        version = f"{len(checkouts)}.{len(self._orders.events(order))}.{page_url is not None}"
        standing = self._orders.standing(order)
        return OrderView(order, standing, version, page_url, request.query_params.get("after", ""))

    def _page(self, request: Request, template: str, status_code: int = 200, **context: Any) -> Response:
        context = {"is_test": self._is_test, "catalogue": catalogue, **context}
        return TEMPLATES.TemplateResponse(request, template, context, status_code)


def _go_to(order: Order, query: str = "") -> Response:
    return RedirectResponse(f"/orders/{order.reference}{query}", 303)


async def show_problem(request: Request, error: Exception) -> Response:
    """The page for an address that does not exist, and the like."""
    status_code = error.status_code if isinstance(error, HTTPException) else 500
    return TEMPLATES.TemplateResponse(request, "problem.html", {"status_code": status_code}, status_code)
