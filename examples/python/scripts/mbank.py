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
        gateway.confirm_mbank_payment(payment.order_number, input("code: "), created.identifier)
    except kassa.OutcomeUnknown as error:
        print(error)  # it may have been charged: never send it again, ask
    outcome = gateway.watch(payment.payment_ref()).outcome()
    print("paid" if isinstance(outcome, kassa.Charged) else "not paid")
