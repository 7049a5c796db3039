"""Celery's part of a shop: delivers what is paid, and looks at the orders of which no event has come.

``celery -A celery_shop.tasks worker --loglevel INFO`` and, in one process, ``celery -A celery_shop.tasks beat``.
"""

import os

from celery import Celery
from celery.utils.log import get_task_logger
from kassa.server import Client

from orders import Orders

logger = get_task_logger(__name__)

# docs: begin app
app = Celery("shop", broker=os.environ["SHOP_BROKER"])
app.conf.update(
    task_acks_late=True,  # a message goes away after its task has ended, not before
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
    beat_schedule={"sweep": {"task": "celery_shop.tasks.sweep", "schedule": 15.0, "options": {"expires": 15}}},
)
orders = Orders(os.environ["SHOP_DATABASE"])
kassa = Client.from_environment(timeout=10)  # KASSA_SERVER_URL, KASSA_API_KEY; forked workers can share it
# docs: end app


# docs: begin tasks
@app.task
def deliver(reference: str) -> None:
    """Delivers a paid order, once, however often the task is sent."""
    orders.deliver(reference, ship)


@app.task
def follow(reference: str) -> None:
    """Looks at an order's checkout, in case its event was lost. Celery's own retries are not needed: the sweep comes again."""
    checkout = kassa.find_checkout(reference)
    if checkout is not None and checkout.is_paid:
        orders.mark_paid(reference)
        deliver.delay(reference)


@app.task
def sweep() -> None:
    """Sends again what is not done. The orders are in the database, so no lost message loses an order."""
    for reference in orders.list_in("paid"):
        deliver.apply_async((reference,), expires=15)
    for reference in orders.list_in("new"):  # in your shop: those of the last three days
        follow.apply_async((reference,), expires=15)
        # docs: end tasks


def ship(reference: str) -> None:
    """Ships the goods. After a crash it can be called again for the same order: then it must do nothing."""
    logger.info("deliver %s", reference)
