"""Makes a page on which the payer chooses how to pay some som: ``python pay_form.py 100.10 cart-17``.

Its answer names no payment: the callback and the return will, by the reference in the query of their addresses.
"""

from decimal import Decimal
from os import environ as env
from sys import argv
from urllib.parse import urlencode

import kassa

reference = urlencode({"cart": argv[2]})
form = kassa.PayForm(
    amount=Decimal(argv[1]),
    service_name="Two coffees",
    callback_url=f"{env['KASSA_CALLBACK_URL']}?{reference}",
    return_url=f"{env['KASSA_RETURN_URL']}?{reference}",
)
with kassa.Gateway.from_environment() as gateway:
    print("open:", gateway.create_pay_form(form).pay_form_url)
