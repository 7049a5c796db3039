"""The settings of the shop that uses kassa-server."""

import os

# docs: begin settings
# A missing variable is found by the system check of django_shop.checks.
KASSA_EVENTS_SECRET = os.environ.get("KASSA_EVENTS_SECRET", "")
SHOP_URL = os.environ.get("SHOP_URL", "http://127.0.0.1:8000")

INSTALLED_APPS = ["django_shop.apps.ServerShop"]
ROOT_URLCONF = "django_shop.urls"
# docs: end settings
SECRET_KEY = os.environ.get("SHOP_SECRET_KEY", "")
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "testserver"]
MIDDLEWARE = ["django.middleware.csrf.CsrfViewMiddleware"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("SHOP_DATABASE", "shop.db"),
        "OPTIONS": {"timeout": 30, "transaction_mode": "IMMEDIATE"},
    }
}
USE_TZ = True
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "INFO"},
}
