"""Makes a page on which the payer chooses how to pay some som: ``python pay_form.py 100.10 cart-17``.

Its answer names no payment: the callback and the return will, by the cart in the query of their addresses. ``callback.py`` and
``returned.py`` verify them.
"""

from decimal import Decimal
from os import environ as env
from pathlib import Path
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
credentials = kassa.Credentials(env["KASSA_LOGIN"], env["KASSA_PASSWORD"])
dialect = kassa.Dialect.from_json(Path(env["KASSA_DIALECT"]).read_text()) if env.get("KASSA_DIALECT") else None
with kassa.Gateway(env["KASSA_BASE_URL"], credentials, dialect=dialect) as gateway:
    print("open:", gateway.create_pay_form(form).pay_form_url)
