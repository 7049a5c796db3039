"""Opens checkouts at kassa-server, and takes its signed events."""

import logging
from functools import cache

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST
from kassa.server import Client, EventError, verify_event

from .models import Order, mark_paid

logger = logging.getLogger(__name__)


@cache
def kassa() -> Client:
    """One for the whole process: by KASSA_SERVER_URL and KASSA_API_KEY."""
    return Client.from_environment(timeout=10)


@require_GET
def product(request: HttpRequest) -> HttpResponse:
    return render(request, "product.html")


# docs: begin buy
@require_POST
def buy(request: HttpRequest) -> HttpResponse:
    order = Order.objects.create()
    back = f"{settings.SHOP_URL}/orders/{order.reference}"
    checkout = kassa().open_checkout(order.reference, 390, "A jar of honey", return_url=back)
    return HttpResponseRedirect(checkout.page_url or "/", status=303)


@require_GET
def order(request: HttpRequest, reference: str) -> HttpResponse:
    return render(request, "order.html", {"order": get_object_or_404(Order, reference=reference)})
    # docs: end buy


# docs: begin event
@csrf_exempt  # its signature says who sent it
@require_POST
def events(request: HttpRequest) -> HttpResponse:
    try:
        event = verify_event(request.body, request.headers, settings.KASSA_EVENTS_SECRET)
    except EventError as error:
        logger.warning("an event was refused: %s", error)  # for the log alone: the answer does not say why
        return HttpResponse(status=401)
    if event.is_paid and not mark_paid(event.reference):
        raise Http404  # what is not answered with 2xx comes again
    return HttpResponse(status=204)
    # docs: end event
