"""Events of kassa-server, without a server."""

from __future__ import annotations

from io import StringIO

from django.conf import settings
from django.core.management import call_command
from django.test import TestCase
from kassa.server.testing import SignedEvent, sign_event

from django_shop.models import Order


# docs: begin events
class EventTests(TestCase):
    def post(self, signed: SignedEvent) -> int:
        headers = {name: value for name, value in signed.headers.items() if name != "Content-Type"}
        answer = self.client.post("/events", signed.body, content_type="application/json", headers=headers)
        return answer.status_code

    def test_paid_order_is_delivered_once(self) -> None:
        order = Order.objects.create()
        signed = sign_event(settings.KASSA_EVENTS_SECRET, reference=order.reference, amount="390")
        output = StringIO()
        for _ in range(2):  # an event can come twice
            self.assertEqual(self.post(signed), 204)
            call_command("deliver", once=True, stdout=output)
        self.assertEqual(output.getvalue(), f"deliver {order.reference}\n")

    def test_old_event_is_refused(self) -> None:
        order = Order.objects.create()
        self.assertEqual(self.post(sign_event(settings.KASSA_EVENTS_SECRET, reference=order.reference, now=0)), 401)
        order.refresh_from_db()
        self.assertEqual(order.state, "new")
        # docs: end events
