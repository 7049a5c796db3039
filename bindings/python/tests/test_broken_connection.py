"""A gateway that breaks a connection off ends that connection, and nothing else."""

from __future__ import annotations

import socket
import ssl
import struct
import subprocess
import sys
from pathlib import Path

import trustme
from raw_gateway import RawGateway

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


def response_and_break_off(connection: socket.socket) -> None:
    """Responds over a connection that could be kept; then closes it, and resets it."""
    body = b'{"code": "200", "data": {"orderNumber": "o-1", "amount": 100.5, "status": "CHARGE"}}'
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
    with socket.socket(fileno=connection.detach()) as beneath:
        beneath.shutdown(socket.SHUT_WR)
        beneath.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_broken_connection_ends_no_program(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.tempfile() as own:
        context.load_cert_chain(own)
    with RawGateway(context) as gateway:
        gateway.answers(response_and_break_off)
        arguments = [gateway.url, str(certificate)]
        program = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, check=False
        )
    assert program.returncode == 0, "negative where a signal ended it"
    assert "charged" in program.stdout
    assert program.stdout.endswith("still here\n")
