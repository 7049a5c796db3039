"""Follows a payment to its end, by the reference that was stored: ``python watch.py 'kassa1:kind=card&...'``."""

from os import environ as env
from pathlib import Path
from sys import argv

import kassa

payment = kassa.PaymentRef.parse(argv[1])
credentials = kassa.Credentials(env["KASSA_LOGIN"], env["KASSA_PASSWORD"])
dialect = kassa.Dialect.from_json(Path(env["KASSA_DIALECT"]).read_text()) if env.get("KASSA_DIALECT") else None
with kassa.Gateway(env["KASSA_BASE_URL"], credentials, dialect=dialect) as gateway:
    for report in gateway.watch(payment):
        match report:
            case kassa.QueryFailed(error):
                print("asking failed, and goes on:", error, flush=True)
            case verdict:
                print(verdict.kind, verdict.report and verdict.report.reason, flush=True)
