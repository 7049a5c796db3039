"""A shop on Celery."""
