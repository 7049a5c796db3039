"""Polls the payments that the shop has sent itself, and delivers what is charged: ``python -m django deliver_charged``."""

from datetime import timedelta
from typing import Any

import kassa
from django.db import close_old_connections

from django_shop import direct
from django_shop.management.commands import deliver
from django_shop.models import deliver_once, mark_paid


class Command(deliver.Command):
    """The worker of the shop that talks to the gateway itself."""

    help = "Polls payments until they are final, and delivers what is charged, until it is stopped."

    def handle(self, *_: Any, **options: Any) -> None:
        deadline = timedelta(seconds=30) if options["once"] else timedelta(days=1)
        policy = kassa.RecoveryPolicy(interval=5, deadline=deadline, follow_new=not options["once"])
        is_over = False
        while not is_over:
            # Everything unfinished, including payments of a crashed process, and those that begin later.
            for recovered in direct.gateway().recover(policy):
                close_old_connections()
                self.take(recovered)
            is_over = options["once"]

    def take(self, recovered: kassa.Recovered) -> None:
        """Delivers a charged payment."""
        match recovered:
            case kassa.JournalEntry(state=kassa.JournalState.CHARGED, note=str(reference)):
                mark_paid(reference)
                deliver_once(reference, self.deliver)
                direct.gateway().finish(recovered)  # until then it comes again, also after a crash
            case _:
                self.stderr.write(f"not paid, or for a person: {recovered}")
