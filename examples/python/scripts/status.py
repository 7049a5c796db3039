"""Asks once where a payment stands, by the reference that was stored: ``python status.py 'kassa1:kind=qr&...'``."""

import sys

import kassa

ref = kassa.PaymentRef.parse(sys.argv[1])
with kassa.Gateway.from_environment() as gateway:
    match ref:
        case kassa.PaymentRef(transaction_id=str(transaction_id)):
            report = gateway.qr_status(transaction_id)
        case kassa.PaymentRef(gateway_number=str(gateway_number)):
            report = gateway.payment_status(gateway_number)
        case kassa.PaymentRef(order_number=str(order_number), provider=kassa.Provider() as provider):
            report = gateway.provider_status(order_number, provider)
        case _:
            sys.exit("this reference holds nothing to ask with")
    print(report.status, report.amount, report.currency)
