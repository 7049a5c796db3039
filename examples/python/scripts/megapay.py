"""Takes a payment from a MegaPay wallet: ``python megapay.py 996755000201 250.50 7``, where 7 is the merchant's account.

It shows the total, then asks for the PIN.
"""

from decimal import Decimal
from sys import argv

import kassa

payment = kassa.MegapayPayment(
    order_number=kassa.new_order_number(), phone=argv[1], amount=Decimal(argv[2]), account=argv[3]
)
print("reference:", payment.payment_ref(), flush=True)  # store it before sending
with kassa.Gateway.from_environment() as gateway:
    try:
        checked = gateway.check_megapay(payment)
        print(f"total: {checked.total} som" if checked.total else "MegaPay may charge a commission", flush=True)
        for _ in range(3):  # a mistyped PIN can be typed again
            try:
                gateway.pay_by_megapay(payment, input("PIN: "))
                break
            except kassa.Refused as error:
                print(error.reason, flush=True)
        else:
            raise SystemExit(f"not paid: {gateway.check(payment.payment_ref()).kind}")
    except kassa.OutcomeUnknown as error:
        print(error)  # it may have been charged: query it, and never send it again
    match gateway.watch(payment.payment_ref()).outcome():
        case kassa.Charged():
            print("paid")
        case kassa.Rejected():
            print("not paid")
        case verdict:
            print("a person should look:", verdict)
