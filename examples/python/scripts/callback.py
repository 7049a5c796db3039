"""Checks a callback's body from standard input against what was expected: ``python callback.py 'kassa1:...' 100.10 < body``."""

from decimal import Decimal
from os import environ as env
from pathlib import Path
from sys import argv, stdin

import kassa

expected = kassa.ExpectedPayment(kassa.PaymentRef.parse(argv[1]), Decimal(argv[2]), "KGS")
callback = kassa.Callback.parse(stdin.read())
credentials = kassa.Credentials(env["KASSA_LOGIN"], env["KASSA_PASSWORD"])
dialect = kassa.Dialect.from_json(Path(env["KASSA_DIALECT"]).read_text()) if env.get("KASSA_DIALECT") else None
with kassa.Gateway(env["KASSA_BASE_URL"], credentials, dialect=dialect) as gateway:
    match gateway.verify_callback(callback, expected):
        case kassa.Confirmed(report):
            print("true:", report.status)
        case kassa.Pending(report):
            print("still open:", report.status)
        case kassa.Contradicted(fields, _):
            print("not true, it differs in", *fields)
        case kassa.Unverifiable():
            print("nothing is proved")
