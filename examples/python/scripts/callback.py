"""Verifies a callback's body from standard input by the stored reference: ``python callback.py 'kassa1:...' < body``."""

from os import environ as env
from pathlib import Path
from sys import argv, stdin

import kassa

payment = kassa.PaymentRef.parse(argv[1])
callback = kassa.Callback.parse(stdin.read())
credentials = kassa.Credentials(env["KASSA_LOGIN"], env["KASSA_PASSWORD"])
dialect = kassa.Dialect.from_json(Path(env["KASSA_DIALECT"]).read_text()) if env.get("KASSA_DIALECT") else None
with kassa.Gateway(env["KASSA_BASE_URL"], credentials, dialect=dialect) as gateway:
    match gateway.verify_callback(callback, payment):
        case kassa.Charged(found):
            # One payment pays for one order: accept this number for no other.
            print("paid by", found.order_number)
        case kassa.Rejected():
            print("not paid")
        case kassa.Open(found):
            print("still open, watch it:", found)
        case kassa.Contradicted(fields):
            print("not true, it differs in", *fields)
        case kassa.Unverifiable(why):
            print("nothing is proved:", why)
