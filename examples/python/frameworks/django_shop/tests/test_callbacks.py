"""Callbacks of the gateway, with an in-memory gateway."""

from __future__ import annotations

import tempfile
from io import StringIO
from unittest.mock import patch

from django.core.management import call_command
from django.test import TestCase
from kassa.testing import FakeGateway

from django_shop import direct
from django_shop.models import Order


# docs: begin callbacks
class CallbackTests(TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.fake = FakeGateway()
        gateway = self.fake.gateway.with_journal(folder.name)
        replaced = patch.object(direct, "gateway", lambda: gateway)
        replaced.start()
        self.addCleanup(replaced.stop)

    def test_charged_pay_form_is_delivered_once(self) -> None:
        page_url = self.client.post("/buy").headers["location"]
        notice = self.fake.charge(page_url)  # the payer pays
        (payment,) = self.fake.payments
        output = StringIO()
        for _ in range(2):  # a callback can come twice
            answer = self.client.post(payment.callback_url or "", notice.callback, content_type="application/json")
            self.assertEqual(answer.status_code, 204)
            call_command("deliver_charged", once=True, stdout=output)
        self.assertEqual(output.getvalue(), f"deliver {Order.objects.get().reference}\n")

    def test_unsigned_callback_is_refused(self) -> None:
        notice = self.fake.charge(self.client.post("/buy").headers["location"])
        answer = self.client.post("/callbacks", notice.callback, content_type="application/json")
        self.assertEqual(answer.status_code, 400)
        self.assertEqual(Order.objects.get().state, "new")
        # docs: end callbacks
