"""The payment gateway's side, for the tests of a shop: its endpoints, pages, callbacks, a ledger, and faults on demand.

No real money moves. `Sandbox` runs the sandbox as a separate process, which ends with the process that started it:

    from kassa_sandbox import Sandbox, cards

    with Sandbox() as sandbox:
        shop = Shop(sandbox.base_url, *sandbox.credentials)
        with sandbox.faults.add("response-lost", order_number="order-17", times=1) as fault:
            shop.pay("order-17", cards.WITHOUT_3DS_APPROVED.pan)
        assert fault.struck == 1
        assert sandbox.payment("order-17").times_charged == 1

In pytest, a test takes the fixture ``kassa_sandbox``. ``python -m kassa_sandbox`` runs it on the command line.
"""

from __future__ import annotations

from . import cards, phones
from ._names import DialectName, FaultName
from .clock import Clock
from .dialects import dialect_json
from .errors import AdminRefused, NotRunning, SandboxError, StartError, UnknownPayment
from .faults import ActiveFault, Fault, Faults
from .payers import Outcome, TestCard, TestPhone, ThreeDs
from .sandbox import Credentials, Sandbox
from .switches import Switches
from .values import (
    CallbackAttempt,
    ClockValues,
    Endpoint,
    Kind,
    Language,
    MbankQuid,
    Payment,
    Provider,
    Request,
    ReusedOrderNumber,
    StatusNumbers,
    SwitchValues,
)

__all__ = [
    "ActiveFault",
    "AdminRefused",
    "CallbackAttempt",
    "Clock",
    "ClockValues",
    "Credentials",
    "DialectName",
    "Endpoint",
    "Fault",
    "FaultName",
    "Faults",
    "Kind",
    "Language",
    "MbankQuid",
    "NotRunning",
    "Outcome",
    "Payment",
    "Provider",
    "Request",
    "ReusedOrderNumber",
    "Sandbox",
    "SandboxError",
    "StartError",
    "StatusNumbers",
    "SwitchValues",
    "Switches",
    "TestCard",
    "TestPhone",
    "ThreeDs",
    "UnknownPayment",
    "cards",
    "dialect_json",
    "phones",
]
