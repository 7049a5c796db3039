"""System checks: ``python -m django check`` and every start of the shop name a setting that is missing or wrong."""

import kassa
from django.conf import settings
from django.core.checks import CheckMessage, Error
from kassa.server import Client, EventError
from kassa.server.testing import sign_event


# docs: begin checks
def check_server(**_: object) -> list[CheckMessage]:
    """Whether the shop could open a checkout, and verify an event."""
    problems: list[CheckMessage] = []
    try:
        Client.from_environment().close()  # sends nothing
    except ValueError as error:
        problems.append(Error(str(error), id="kassa.E001"))
    try:
        sign_event(settings.KASSA_EVENTS_SECRET)
    except EventError as error:
        problems.append(Error(f"KASSA_EVENTS_SECRET: {error}", id="kassa.E002"))
    return problems


def check_gateway(**_: object) -> list[CheckMessage]:
    """Whether the shop could make a pay-form, and read a callback."""
    problems: list[CheckMessage] = []
    try:
        kassa.Gateway.from_environment().close()  # sends nothing
    except kassa.Misconfigured as error:
        problems.append(Error(str(error), id="kassa.E003"))
    try:
        kassa.CallbackKey(settings.SHOP_CALLBACK_SECRET)
    except kassa.Invalid as error:
        problems.append(Error(f"SHOP_CALLBACK_SECRET: {error}", id="kassa.E004"))
    return problems
    # docs: end checks
