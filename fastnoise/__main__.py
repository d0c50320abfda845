"""`python -m fastnoise` is the `fastnoise` command."""

import sys

from fastnoise.cli import main

sys.exit(main())
