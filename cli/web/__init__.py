"""The first modules as a page that needs no installation: `attn release --web`."""
