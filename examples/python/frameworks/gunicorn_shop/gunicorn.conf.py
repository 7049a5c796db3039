"""Settings of gunicorn for the shops: ``gunicorn --config gunicorn_shop/gunicorn.conf.py 'flask_shop.app:create_app()'``."""

import os

# docs: begin settings
worker_class = os.environ.get("SHOP_WORKERS", "gthread")  # or sync, gevent, asgi, uvicorn_worker.UvicornWorker
workers = 2
if worker_class == "gthread":
    threads = 8  # a payer who waits for the gateway keeps no other waiting. With it, gunicorn takes sync for gthread
# After `timeout`, gunicorn kills a sync worker in the middle of its request. So it is longer than Kassa's longest call: 10 s
# for the server's client in these shops, 60 s for a payment of the SDK unless `payment_deadline` says less.
timeout = 75
graceful_timeout = 65  # at a restart, a request that runs may end; the service manager's own timeout must be longer
# Kassa's clients and gateways work in forked workers. But gevent patches Python in the worker, so it loads the shop there.
preload_app = os.environ.get("SHOP_PRELOAD") == "yes" and worker_class != "gevent"
# docs: end settings
