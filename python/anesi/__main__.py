"""python -m anesi: the command `anesi`, which is quicker, for it does not import torch."""

import sys
from importlib import import_module

sys.exit(import_module("_anesi_program").main())
