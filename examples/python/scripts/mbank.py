"""Takes a mobile-bank payment of whole som: ``python mbank.py 996700000001 250``. It asks for the code from the message."""

from sys import argv

import kassa

payment = kassa.MbankPayment(
    order_number=kassa.new_order_number(), phone=argv[1], amount_som=int(argv[2]), comment="Two coffees"
)
print("reference:", payment.payment_ref(), flush=True)  # store it before sending
with kassa.Gateway.from_environment() as gateway:
    try:
        created = gateway.create_mbank_payment(payment)
        for _ in range(3):  # a mistyped code can be typed again
            try:
                gateway.confirm_mbank_payment(created.payment, input("code: "))
                break
            except kassa.Refused as error:
                print(error.reason, flush=True)
        else:
            raise SystemExit(f"not paid: {gateway.check(created.payment).kind}")
    except kassa.OutcomeUnknown as error:
        print(error)  # it may have been charged: query it, and never send it again
    match gateway.watch(payment.payment_ref()).outcome():
        case kassa.Charged():
            print("paid")
        case kassa.Rejected():
            print("not paid")
        case verdict:
            print("a person should look:", verdict)
