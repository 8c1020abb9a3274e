"""python -m anesi: the command-line program. The command `anesi` is quicker, for it does not import torch."""

import sys

from _anesi_program import main

sys.exit(main())
