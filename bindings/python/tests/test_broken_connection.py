"""A gateway that breaks a connection off ends that connection, and nothing else."""

from __future__ import annotations

import socket
import ssl
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import trustme
from raw_gateway import read_request

# Python itself ignores the signal that a write to a broken connection is; programs in Swift and C do not.
PROGRAM = """
import contextlib, pathlib, signal, sys, kassa
if hasattr(signal, "SIGPIPE"):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
certificate = pathlib.Path(sys.argv[2]).read_text()
with kassa.Gateway(sys.argv[1], kassa.Credentials("a", "b"), extra_root_certificates=[certificate]) as gateway:
    for _ in range(20):
        with contextlib.suppress(kassa.PaymentError):
            print(gateway.provider_status("o-1", kassa.Provider.MBANK).status)
print("still here")
"""
BODY = b'{"code": "200", "data": {"orderNumber": "o-1", "amount": 100.5, "status": "CHARGE"}}'
REPLY = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)


class RudeGateway:
    """Replies over TLS, and then closes and resets the connection, which should have been kept."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                self._converse(connection)

    def _converse(self, connection: socket.socket) -> None:
        with self._context.wrap_socket(connection, server_side=True) as over_tls:
            read_request(over_tls)
            over_tls.sendall(REPLY)
            beneath = socket.socket(fileno=over_tls.detach())
        beneath.shutdown(socket.SHUT_WR)
        beneath.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        beneath.close()

    def close(self) -> None:
        # Where a listener cannot be shut down, closing it is enough.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def test_a_broken_connection_ends_no_program(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.tempfile() as own:
        context.load_cert_chain(own)
    gateway = RudeGateway(context)
    try:
        program = subprocess.run(
            [sys.executable, "-c", PROGRAM, gateway.url, str(certificate)],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        gateway.close()
    assert program.returncode == 0, "negative where a signal ended it"
    assert "charged" in program.stdout
    assert program.stdout.endswith("still here\n")
