"""What an installed wheel must do with nothing else there: load, draw, call, and answer on the command line."""

import asyncio
import logging
import shutil
import socket
import subprocess
import sys
import sysconfig
from contextvars import ContextVar

import kassa
from kassa.testing import FakeGateway

with socket.create_server(("127.0.0.1", 0)) as listener:
    port = listener.getsockname()[1]

assert len(kassa.new_order_number()) == 32
assert kassa.QrCode("https://pay.example.kg").png().startswith(b"\x89PNG")
with kassa.Gateway(f"http://127.0.0.1:{port}", kassa.Credentials("shop", "secret"), query_retries=0) as gateway:
    try:
        gateway.provider_status("o-1", kassa.Provider.CARDS)
    except kassa.Unavailable as error:
        assert error.is_retryable
    else:
        raise SystemExit("somebody answers where nobody listens")

try:
    bool(kassa.Rejected(kassa.PaymentRef.mbank("o-1", 250), kassa.StatusReport(kassa.PaymentStatus.REJECTED)))
except TypeError as error:
    assert "is_charged" in str(error)
else:
    raise SystemExit("a rejected payment is taken for a yes")

FakeGateway().gateway.create_qr_data(kassa.QrPayment(sum_tyiyn=100))

of_request: ContextVar[str] = ContextVar("of_request", default="")
lines: list[tuple[str, str]] = []


class Whose(logging.Handler):
    """Whose context each line comes in."""

    def emit(self, record: logging.LogRecord) -> None:
        lines.append((record.__dict__["kassa"]["order"], of_request.get()))


async def pay(gateway: kassa.AsyncGateway, order: str) -> None:
    of_request.set(order)
    await gateway.create_mbank_payment(
        kassa.MbankPayment(order_number=order, phone="996555000101", amount_som=250, comment="Tea")
    )


async def pay_all() -> None:
    fake = FakeGateway()
    await asyncio.gather(*(pay(fake.async_gateway, f"order-{number}") for number in range(20)))


logging.getLogger("kassa").addHandler(Whose())
logging.getLogger("kassa").setLevel(logging.DEBUG)
asyncio.run(pay_all())
assert len(lines) == 20
assert all(order == whose for order, whose in lines)

command = shutil.which("kassa", path=sysconfig.get_path("scripts"))
assert command is not None, "the console command is not there"
for option, start in (("--version", f"kassa {kassa.__version__}\n"), ("--help", "usage: kassa [-h]")):
    assert subprocess.run([command, option], check=True, capture_output=True, text=True).stdout.startswith(start)

sys.stdout.write(f"works:   kassa {kassa.__version__} on Python {sys.version.split()[0]}\n")
