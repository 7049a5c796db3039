"""Follows a payment to its end, by the reference that was stored: ``python watch.py 'kassa1:kind=card&...'``."""

from sys import argv

import kassa

ref = kassa.PaymentRef.parse(argv[1])
with kassa.Gateway.from_environment() as gateway:
    for report in gateway.watch(ref):
        match report:
            case kassa.StatusReport(status=status, reason=reason):
                print(status, reason, flush=True)
            case kassa.QueryFailed(error):
                print("asking failed, and goes on:", error, flush=True)
