"""Verifies a callback's body from standard input by the stored reference: ``python callback.py 'kassa1:...' < body``."""

from sys import argv, stdin

import kassa

payment = kassa.PaymentRef.parse(argv[1])
callback = kassa.Callback.parse(stdin.read())
with kassa.Gateway.from_environment() as gateway:
    match gateway.verify_callback(callback, payment):
        case kassa.Charged(found):
            # One payment pays for one order: accept this number for no other.
            print("paid by", found.order_number)
        case kassa.Rejected():
            print("not paid")
        case kassa.Pending(found):
            print("still pending, watch it:", found)
        case kassa.Mismatch(_, fields):
            print("not true, it differs in", *fields)
        case kassa.Unverifiable(_, why):
            print("nothing is proved:", why)
