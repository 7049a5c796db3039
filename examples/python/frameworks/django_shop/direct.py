"""Makes pay-forms at the gateway itself, and takes its callbacks: the other way, with the settings ``settings_direct``."""

from dataclasses import replace
from functools import cache

import kassa
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from . import views
from .models import Order


# docs: begin gateway
@cache
def gateway() -> kassa.Gateway:
    """One for the whole process: by KASSA_URL, KASSA_LOGIN, KASSA_PASSWORD and KASSA_DIALECT."""
    return kassa.Gateway.from_environment(payment_deadline=20, query_deadline=20, journal=settings.SHOP_JOURNAL)


def key() -> kassa.CallbackKey:
    return kassa.CallbackKey(settings.SHOP_CALLBACK_SECRET)
    # docs: end gateway


# docs: begin buy
@require_POST
def buy(request: HttpRequest) -> HttpResponse:
    order = Order.objects.create()
    form = kassa.PayForm(
        amount=390,
        service_name="A jar of honey",
        callback_url=f"{settings.SHOP_URL}/callbacks",
        return_url=f"{settings.SHOP_URL}/orders/{order.reference}",
        entry_id=order.reference,  # the journal makes one pay-form for each order
    )
    signed = key().callback_url(form.callback_url, form.payment_ref())
    created = gateway().with_note(order.reference).create_pay_form(replace(form, callback_url=signed))
    return HttpResponseRedirect(created.pay_form_url, status=303)
    # docs: end buy


# docs: begin callback
@csrf_exempt  # the key has signed its address
@require_POST
def callback(request: HttpRequest) -> HttpResponse:
    try:
        payment = key().read_callback_url(request.get_full_path())
        claimed = kassa.Callback.parse(request.body)
    except kassa.Invalid:
        return HttpResponse(status=400)
    try:
        # A callback is only a hint. The journal records what the gateway reports, and the worker delivers.
        gateway().verify_callback(claimed, payment)
    except kassa.PaymentError:
        return HttpResponse(status=503)  # the gateway sends it again
    return HttpResponse(status=204)
    # docs: end callback


urlpatterns = [
    path("", views.product),
    path("buy", buy),
    path("orders/<reference>", views.order),
    path("callbacks", callback),
]
