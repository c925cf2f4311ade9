"""``python -m paretoclf``."""

import sys

from paretoclf.cli import main

if __name__ == "__main__":
    sys.exit(main())
