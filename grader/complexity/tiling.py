"""Tiling: sizes that are cut into tiles, and counted in tiles.

The cost of code that works tile by tile is a polynomial in the number of tiles and the size of a tile, where the tile
divides the size. It is none in the size itself. So a size `n` with tiles of `b` is counted as `n/b`, rounded up. Then
`n·d` is `(n/b)·b·d` and `n·b` is `(n/b)·b²`, and neither of them is part of the other.
"""

from __future__ import annotations

from collections.abc import Sequence

Sizes = tuple[int, ...]
Tiles = tuple[int | None, ...]  # for each size, the place of the size of its tiles; empty if no size has tiles


def in_tiles(sizes: Sequence[int], tiles: Tiles) -> Sizes:
    """Return sizes with the number of tiles in place of each size that has tiles; a cut tile is one."""
    if not tiles:
        return tuple(sizes)
    return tuple(size if tile is None else -(-size // sizes[tile]) for size, tile in zip(sizes, tiles, strict=True))


def from_tiles(counted: Sequence[int], tiles: Tiles) -> Sizes:
    """Return the sizes in which every tile is complete."""
    if not tiles:
        return tuple(counted)
    return tuple(count if tile is None else count * counted[tile] for count, tile in zip(counted, tiles, strict=True))


def without_cut_tiles(sizes: Sequence[int], tiles: Tiles) -> Sizes:
    """Return sizes that end where their last complete tile ends."""
    return tuple(
        size if tile is None else size // sizes[tile] * sizes[tile] for size, tile in zip(sizes, tiles, strict=True)
    )
