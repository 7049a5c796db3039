"""What an installed wheel must do with nothing else there but the sandbox's: start, take a payment, and stop."""

import subprocess
import sys
import sysconfig
from pathlib import Path

from kassa_server import NotRunning
from kassa_server.testing import KassaServer

version = subprocess.run(
    [sys.executable, "-m", "kassa_server", "--version"], check=True, capture_output=True, text=True
)
order = {"reference": "order-1", "amount": "390", "description": "Honey", "return_url": "http://127.0.0.1:9/paid"}
with KassaServer() as server:
    checkout = server.request("POST", "/v1/checkouts", order)
    token = server.request("POST", f"/v1/checkouts/{checkout['id']}/tokens")["token"]
    form = server.request("POST", "/v1/checkout/payments", {"method": "pay_form"}, key=token, idempotency_key="order-1")
    server.pay_by_form(form["page_url"])
    assert server.wait_for("checkout.paid").reference == "order-1"
if programs := list(Path(sysconfig.get_path("scripts")).glob("kassa-certify*")):
    # It finds the server beside itself, starts it, and then the shop, which is none.
    shop = "http://127.0.0.1:{port}/"
    settings = ["--start", "exit 3", "--order", f"POST {shop}", "--events", shop, "--state", shop, "--delivered", "yes"]
    certify = subprocess.run([programs[0], *settings], check=False, capture_output=True, text=True)
    assert (certify.returncode, "start: the shop ended" in certify.stderr) == (2, True), certify.stderr
try:
    server.request("GET", "/healthz")
except NotRunning:
    sys.stdout.write(f"works:   {version.stdout.strip()} on Python {sys.version.split()[0]}\n")
else:
    raise SystemExit("it outlived its block")
