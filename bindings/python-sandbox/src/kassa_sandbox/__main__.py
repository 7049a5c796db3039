"""``python -m kassa_sandbox`` is the program ``kassa-sandbox``, with the same arguments."""

from __future__ import annotations

import os
import subprocess
import sys

from . import _binary
from .errors import StartError


def main() -> int:
    try:
        program = str(_binary.find())
        if os.name == "nt":
            return subprocess.call([program, *sys.argv[1:]])  # noqa: S603 - the sandbox itself
        os.execv(program, [program, *sys.argv[1:]])  # noqa: S606 - the sandbox itself
    except (StartError, OSError) as error:
        sys.stderr.write(f"kassa_sandbox: {error}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
