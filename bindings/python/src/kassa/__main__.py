"""``python -m kassa``, the same as the command ``kassa``."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main(program="python -m kassa"))
