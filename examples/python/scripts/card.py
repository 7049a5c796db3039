"""Takes a card payment in som: ``python card.py 100.10``. Handling card numbers puts you under PCI DSS."""

from decimal import Decimal
from os import environ as env
from sys import argv

import kassa

parts = ("PAN", "EXPIRY_MONTH", "EXPIRY_YEAR", "CVC", "NAME")
pan, month, year, cvc, name = (env[f"KASSA_CARD_{part}"] for part in parts)
payment = kassa.CardPayment(
    order_number=kassa.new_order_number(),
    description="Two coffees",
    amount=Decimal(argv[1]),
    currency="KGS",
    card=kassa.Card(pan, month, int(year), cvc, name),
    language="en",
    callback_url=env["KASSA_CALLBACK_URL"],
    ip="203.0.113.7",  # the payer's
)
print("reference:", payment.payment_ref(), flush=True)  # store it before sending
with kassa.Gateway.from_environment() as gateway:
    try:
        created = gateway.create_card_payment(payment)
        if isinstance(created.next_step, kassa.OpenConfirmation):
            print("open:", created.next_step.url, flush=True)  # the payer confirms it there
    except kassa.OutcomeUnknown as error:
        print(error)  # it may have been charged: query it, and never send it again
    match gateway.watch(payment.payment_ref()).outcome():
        case kassa.Charged():
            print("paid")
        case kassa.Rejected():
            print("not paid")
        case verdict:
            print("a person should look:", verdict)
