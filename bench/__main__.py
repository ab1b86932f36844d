"""``python -m bench [WHAT ...]``: see docs/bench.md."""

import sys

from bench.main import main

sys.exit(main())
