"""What an installed wheel must do with nothing else there: load, draw, call, and answer on the command line."""

import shutil
import socket
import subprocess
import sys
import sysconfig

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
    bool(kassa.Rejected(kassa.StatusReport(kassa.PaymentStatus.REJECTED)))
except TypeError as error:
    assert "is_charged" in str(error)
else:
    raise SystemExit("a rejected payment is taken for a yes")

FakeGateway().gateway.create_qr_data(kassa.QrPayment(sum_tyiyn=100))

command = shutil.which("kassa", path=sysconfig.get_path("scripts"))
assert command is not None, "the console command is not there"
for option, start in (("--version", f"kassa {kassa.__version__}\n"), ("--help", "usage: kassa [-h]")):
    assert subprocess.run([command, option], check=True, capture_output=True, text=True).stdout.startswith(start)

sys.stdout.write(f"works:   kassa {kassa.__version__} on Python {sys.version.split()[0]}\n")
