"""Shows a QR code in the terminal and waits until it is paid: ``python qr.py 100.10``. Its picture goes to qr.png."""

import sys
from decimal import Decimal
from pathlib import Path

import kassa

with kassa.Gateway.from_environment() as gateway:
    data = gateway.create_qr_data(kassa.QrPayment(sum_tyiyn=kassa.som_to_tyiyn(Decimal(sys.argv[1]))))
    if data.payload is None or data.transaction_id is None:
        sys.exit(f"this gateway's response needs a dialect: {data.raw}")
    code = kassa.QrCode(data.payload)
    Path("qr.png").write_bytes(code.png())
    print(f"{code.text()}\n{data.payload}\nreference: {data.payment}", flush=True)  # store it before the code is shown
    match gateway.watch(data.payment).outcome():
        case kassa.Charged():
            print("paid")
        case kassa.Rejected():
            print("not paid")
        case verdict:
            print("a person should look:", verdict)
