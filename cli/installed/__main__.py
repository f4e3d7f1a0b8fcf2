"""`python -m attnlab`, where the folder of `attn` is not on the PATH."""

from attnlab import main

main()
