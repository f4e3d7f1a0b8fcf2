"""A class for a table, complex numbers for the positions, and the identity for one-hot rows."""
from dataclasses import dataclass

import numpy as np


@dataclass
class Rows:
    table: np.ndarray

    def __getitem__(self, ids):
        picked = []
        for number in ids:
            if not (0 <= number < len(self.table)):
                raise ValueError(f"id {number} of {len(self.table)}")
            picked.append(int(number))
        return self.table.take(picked, axis=0) if picked else np.empty_like(self.table, shape=(0, self.width))

    @property
    def width(self):
        return self.table.shape[1]

    def __len__(self):
        return len(self.table)


def look_up(ids, table):
    return Rows(table)[ids]


def one_hot(ids, size):
    return Rows(np.identity(size))[ids]


def sinusoidal(length, width):
    if width % 2 != 0:
        raise ValueError(f"{width=} must be even")
    angle = np.arange(length)[:, np.newaxis] * np.power(1e4, -np.arange(0, width, 2) / width)[np.newaxis]
    turned = np.exp(1j * angle)
    return np.dstack((turned.imag, turned.real)).reshape(length, -1)


def embed(ids, token_table, position_table):
    tokens, positions = Rows(token_table), Rows(position_table)
    if tokens.width != positions.width:
        raise ValueError(f"token vectors have {tokens.width} numbers, position vectors {positions.width}")
    if len(positions) < len(ids):
        raise ValueError(f"positions for {len(positions)} of {len(ids)} ids")
    return tokens[ids] + positions.table[0 : len(ids), :]


REFLECT_BYTES_OF_GPT2_TABLE = 4 * 50257 * 768
REFLECT_MULTIPLICATIONS_OF_ONE_HOT = 1024 * 50257 * 768
