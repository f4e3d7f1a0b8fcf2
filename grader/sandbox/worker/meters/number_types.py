"""Types that the meter takes for plain numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np

# A product with one of these is one multiplication. Integers do not count: they are indices more often than data.
FLOATS = frozenset({float, complex, np.float64, np.float32, np.float16, np.longdouble, Decimal, Fraction})
NUMBERS = FLOATS | {int, bool, np.bool_, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint8}
