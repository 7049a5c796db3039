"""Polls a payment until it is final, by its stored reference: ``python watch.py 'kassa1:kind=card&...'``."""

from sys import argv

import kassa

payment = kassa.PaymentRef.parse(argv[1])
with kassa.Gateway.from_environment() as gateway:
    for report in gateway.watch(payment):
        match report:
            case kassa.QueryFailed(error):
                print("asking failed, and goes on:", error, flush=True)
            case verdict:
                print(verdict.kind, None if verdict.report is None else verdict.report.reason, flush=True)
