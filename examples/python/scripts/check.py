"""Queries a payment once by its stored reference: ``python check.py 'kassa1:kind=qr&...'``."""

from sys import argv

import kassa

payment = kassa.PaymentRef.parse(argv[1])
with kassa.Gateway.from_environment() as gateway:
    verdict = gateway.check(payment)
    report = verdict.report
    amount = "" if report is None else f"{report.amount} {report.currency}"
    print(verdict.kind, amount)
