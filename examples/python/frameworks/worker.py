"""Delivers what is paid, in a process of its own: ``python worker.py``."""

import os
import time

from orders import Orders


def deliver(reference: str) -> None:
    """Ships the goods. After a crash it can be called again for the same order: then it must do nothing."""
    print("deliver", reference, flush=True)


def main() -> None:
    """Runs until it is stopped."""
    orders = Orders(os.environ["SHOP_DATABASE"])
    while True:
        for reference in orders.list_in("paid"):
            orders.deliver(reference, deliver)
        time.sleep(1)


if __name__ == "__main__":
    main()
