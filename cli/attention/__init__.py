"""What only the course on attention shows: its own commands, pages and training. The engine imports none of it."""

from __future__ import annotations

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
