"""The words for the verdict on a cost."""

from __future__ import annotations

import re


def cost_word(verdict: str, measured: str, message: str, *, too_little: bool = False) -> str:
    """Return the word for the verdict on one cost. Code that raised was not measured, whatever it did before."""
    if verdict == "fail":
        unmeasured = not measured or message.startswith(("NOT MEASURED", "the results are wrong"))
        return "NOT MEASURED" if unmeasured else "TOO LITTLE" if too_little else "TOO MUCH"
    return {"pass": "OK", "inconclusive": "not decided"}[verdict]


def without_word(message: str) -> str:
    """Return the message of a cost without a leading "NOT MEASURED", which the reader already sees."""
    return re.sub(r"^(not measured( at large sizes)?|it could not be measured): ", "", message, flags=re.IGNORECASE)
