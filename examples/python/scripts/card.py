"""Takes a card payment of some som: ``python card.py 100.10``. Whoever handles card numbers is under PCI DSS."""

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
        print(error)  # it may have been charged: never send it again, ask
    outcome = gateway.watch(payment.payment_ref()).outcome()
    print("paid" if isinstance(outcome, kassa.Charged) else "not paid")
