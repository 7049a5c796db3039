"""Asks once about a payment, by the reference that was stored: ``python check.py 'kassa1:kind=qr&...'``."""

from os import environ as env
from pathlib import Path
from sys import argv

import kassa

payment = kassa.PaymentRef.parse(argv[1])
credentials = kassa.Credentials(env["KASSA_LOGIN"], env["KASSA_PASSWORD"])
dialect = kassa.Dialect.from_json(Path(env["KASSA_DIALECT"]).read_text()) if env.get("KASSA_DIALECT") else None
with kassa.Gateway(env["KASSA_BASE_URL"], credentials, dialect=dialect) as gateway:
    verdict = gateway.check(payment)
    report = verdict.report
    print(verdict.kind, report and report.amount, report and report.currency)
