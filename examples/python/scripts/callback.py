"""Checks a callback's body from standard input against what was expected: ``python callback.py 'kassa1:...' 100.10 < body``."""

from decimal import Decimal
from sys import argv, stdin

import kassa

expected = kassa.ExpectedPayment(kassa.PaymentRef.parse(argv[1]), Decimal(argv[2]), "KGS")
callback = kassa.Callback.parse(stdin.read())
with kassa.Gateway.from_environment() as gateway:
    match gateway.verify_callback(callback, expected):
        case kassa.Confirmed(report):
            print("true:", report.status)
        case kassa.Pending(report):
            print("still open:", report.status)
        case kassa.Contradicted(fields, _):
            print("not true, it differs in", *fields)
        case kassa.Unverifiable():
            print("nothing is proved")
