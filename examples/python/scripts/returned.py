"""Verifies a payment when its payer is back, by the stored reference: ``python returned.py 'kassa1:...' ADDRESS``."""

from os import environ as env
from pathlib import Path
from sys import argv

import kassa

payment = kassa.PaymentRef.parse(argv[1])
redirect = kassa.ReturnRedirect.parse(argv[2])  # the whole address that the payer came back to
credentials = kassa.Credentials(env["KASSA_LOGIN"], env["KASSA_PASSWORD"])
dialect = kassa.Dialect.from_json(Path(env["KASSA_DIALECT"]).read_text()) if env.get("KASSA_DIALECT") else None
with kassa.Gateway(env["KASSA_BASE_URL"], credentials, dialect=dialect) as gateway:
    match gateway.verify_return(redirect, payment):
        case kassa.Charged(found):
            # One payment pays for one order: accept this number for no other.
            print("paid by", found.order_number)
        case kassa.Rejected():
            print("not paid")
        case kassa.Open(found):
            print("still open, watch it:", found)
        case verdict:
            print("a person should look:", verdict)
