"""The web part: the shop on Flask, which has Celery deliver at once. ``flask --app celery_shop.web run``."""

from flask_shop.app import create_app

from .tasks import deliver

app = create_app(on_paid=deliver.delay)
