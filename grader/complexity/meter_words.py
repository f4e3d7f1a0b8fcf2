"""What the meters count, in words that a student has met. It imports nothing, so that `attn test` starts fast."""

_WORDS = {  # for a student, who has not met the names
    "steps": "rounds of Python loops",
    "smul": "multiplications in Python",
    "mul": "multiplications",
    "flops": "additions and multiplications",
    "work": "entries computed",
    "mem": "memory in bytes",
    "sums": "products added up",
}


def in_words(meter: str) -> str:
    """Return what a meter counts, in words that a student has met."""
    return _WORDS.get(meter, meter)
