"""The settings of the shop that talks to the gateway itself."""

import os

from .settings import *  # noqa: F403 - as settings for another way do

# docs: begin settings
SHOP_CALLBACK_SECRET = os.environ.get("SHOP_CALLBACK_SECRET", "")
SHOP_JOURNAL = os.environ.get("SHOP_JOURNAL", "payments")

INSTALLED_APPS = ["django_shop.apps.DirectShop"]
ROOT_URLCONF = "django_shop.direct"
# docs: end settings
