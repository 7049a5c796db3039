"""Creates a pay-form, on which the payer chooses a method: ``python pay_form.py 100.10 cart-17``.

The answer has no identifier, so the callback and the return have the cart in their query. ``callback.py`` and ``returned.py``
verify them.
"""

from decimal import Decimal
from os import environ as env
from sys import argv
from urllib.parse import urlencode

import kassa

cart = urlencode({"cart": argv[2]})
form = kassa.PayForm(
    amount=Decimal(argv[1]),
    service_name="Two coffees",
    callback_url=f"{env['KASSA_CALLBACK_URL']}?{cart}",
    return_url=f"{env['KASSA_RETURN_URL']}?{cart}",
)
print("reference:", form.payment_ref(), flush=True)  # store it with the cart before sending
with kassa.Gateway.from_environment() as gateway:
    print("open:", gateway.create_pay_form(form).pay_form_url)
