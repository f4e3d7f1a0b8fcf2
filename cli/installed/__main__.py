"""`python -m attnlab`, where the folder of `attn` is not on the PATH."""

from attnlab import main  # type: ignore[import-not-found]  # the package in the wheel: see setup.py

main()
