"""The app, for each way to take payments with the system check of that way."""

from django.apps import AppConfig
from django.core.checks import register

from .checks import check_gateway, check_server


class ServerShop(AppConfig):
    """Uses kassa-server."""

    name = "django_shop"
    default = True

    def ready(self) -> None:
        register(check_server)


class DirectShop(AppConfig):
    """Talks to the gateway itself."""

    name = "django_shop"

    def ready(self) -> None:
        register(check_gateway)
