"""What an installed wheel must do with nothing else there: load, draw, and call."""

import socket
import sys

import kassa

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
sys.stdout.write(f"works:   kassa {kassa.__version__} on Python {sys.version.split()[0]}\n")
