"""``python -m kassa``, the same as the command ``kassa``."""

import sys


def main(program: str = "kassa") -> int:
    """Runs one command; its exit status. This is the console command."""
    try:
        # Its import takes the native library, which a copied package may lack.
        from .cli.main import main as run
    except ImportError as error:
        sys.stderr.write(f"kassa: {error}\n")
        return 2
    return run(program=program)


if __name__ == "__main__":
    sys.exit(main("python -m kassa"))
