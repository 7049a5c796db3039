"""Verifies the payer's return by the stored reference: ``python returned.py 'kassa1:...' ADDRESS``."""

from sys import argv

import kassa

payment = kassa.PaymentRef.parse(argv[1])
redirect = kassa.ReturnRedirect.parse(argv[2])  # the whole address that the payer came back to
with kassa.Gateway.from_environment() as gateway:
    match gateway.verify_return(redirect, payment):
        case kassa.Charged(found):
            # One payment pays for one order: accept this number for no other.
            print("paid by", found.order_number)
        case kassa.Rejected():
            print("not paid")
        case kassa.Pending(found):
            print("still pending, watch it:", found)
        case verdict:
            print("a person should look:", verdict)
