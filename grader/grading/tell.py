"""The call that says which slow check begins."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str, str], None]  # a student, and the property that the check is about
