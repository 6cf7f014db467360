"""The command `sutura`: this process becomes the compiler."""

from __future__ import annotations

import os
import sys

from . import PROGRAM


def main() -> None:
    """Runs `sutura` with the arguments of this process."""
    try:
        os.execv(PROGRAM, ["sutura", *sys.argv[1:]])
    except OSError as error:
        print(f"error: cannot run {PROGRAM}: {error.strerror}", file=sys.stderr)
        sys.exit(5)


if __name__ == "__main__":
    main()
