"""Polls the payments that the shop has sent itself, and delivers what is charged: ``python direct_worker.py``."""

import os
from datetime import timedelta

import kassa

from orders import Orders
from worker import deliver

POLICY = kassa.RecoveryPolicy(interval=5, deadline=timedelta(days=1), follow_new=True)
"""``follow_new``: also payments that begin later, in any process that shares the journal."""


def main() -> None:
    """Runs until it is stopped. A second one on the same journal waits, and takes over if the first one dies."""
    orders = Orders(os.environ["SHOP_DATABASE"])
    with kassa.Gateway.from_environment(journal=os.environ["SHOP_JOURNAL"]) as gateway:
        while True:
            for recovered in gateway.recover(POLICY):
                match recovered:
                    case kassa.JournalEntry(state=kassa.JournalState.CHARGED, note=str(reference)):
                        orders.mark_paid(reference)
                        orders.deliver(reference, deliver)
                        gateway.finish(recovered)  # until then it comes again, also after a crash
                    case _:
                        print("not paid, or for a person:", recovered, flush=True)


if __name__ == "__main__":
    main()
