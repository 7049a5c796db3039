"""``python -m kassa_server`` is the program ``kassa-server``, with the same arguments."""

from __future__ import annotations

import os
import subprocess
import sys

from ._binary import find
from .errors import StartError


def main() -> int:
    try:
        program = str(find())
        if os.name == "nt":
            return subprocess.call([program, *sys.argv[1:]])  # noqa: S603 - the server itself
        os.execv(program, [program, *sys.argv[1:]])  # noqa: S606 - the server itself
    except (StartError, OSError) as error:
        sys.stderr.write(f"kassa_server: {error}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
