"""For tests of **your own** code: an in-memory gateway on a virtual clock.

    import kassa
    from kassa.testing import FakeFault, FakeGateway

    def test_lost_answer_is_no_failed_payment():
        fake = FakeGateway()
        fake.fail_next(FakeFault.RESPONSE_LOST)
        order = shop.pay(fake.gateway, "order-17")  # your code
        assert order.state == "unknown"
        fake.charge("order-17")  # the payer pays
        assert shop.follow(fake.gateway, order).state == "paid"  # takes no time

It is small, and succeeds by default. For real pages, callbacks and faults, use the sandbox, in the package
``kassa-sandbox``.
"""

from .._one_module import show_as_one_module as _show_as_one_module
from .fake_gateway import FakeGateway
from .fault import FakeFault
from .payment import FakeNotification, FakePayment
from .plan import FakePlan

__all__ = ["FakeFault", "FakeGateway", "FakeNotification", "FakePayment", "FakePlan"]

_show_as_one_module(globals())
