"""Settings of gunicorn for the shops: ``gunicorn --config gunicorn_shop/gunicorn.conf.py 'flask_shop.app:create_app()'``."""

import os

# docs: begin settings
worker_class = os.environ.get("SHOP_WORKERS", "gthread")  # or sync, gevent, asgi, uvicorn_worker.UvicornWorker
workers = 2
threads = 8  # of gthread: a payer who waits for the gateway keeps no other waiting
# After `timeout`, gunicorn kills a sync worker in the middle of its request. So it is longer than Kassa's longest call: 10 s
# for the server's client in these shops, 60 s for a payment of the SDK unless `payment_deadline` says less.
timeout = 75
graceful_timeout = 65  # at a restart, a request that runs may end; the service manager's own timeout must be longer
preload_app = os.environ.get("SHOP_PRELOAD") == "yes"  # Kassa's clients and gateways work in forked processes
# docs: end settings
