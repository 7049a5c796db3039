"""Delivers what is paid: ``python -m django deliver``."""

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import close_old_connections

from django_shop.models import Order, deliver_once


class Command(BaseCommand):
    """The worker of the shop that uses kassa-server."""

    help = "Delivers what is paid, until it is stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="end when nothing is left")

    def handle(self, *_: Any, **options: Any) -> None:
        while True:
            close_old_connections()
            for order in Order.objects.filter(state="paid"):
                deliver_once(order.reference, self.deliver)
            if options["once"]:
                return
            time.sleep(1)

    def deliver(self, reference: str) -> None:
        """Ships the goods. After a crash it can be called again for the same order: then it must do nothing."""
        self.stdout.write(f"deliver {reference}")
        self.stdout.flush()
