"""Misconceptions of 01_log."""

import numpy as np

# %% forgets_earlier_rows
LIKELY = "a new row replaces the earlier ones"
HINT = "Append two rows. Is the first one still in the sum?"
REPLACE = {"self.total = self.total + row": "self.total = 1.0 * row"}

# %% counts_from_one
LIKELY = "the number of rows starts at 1"
HINT = "How many rows does an empty log have?"
REPLACE = {"self.count = 0": "self.count = 1"}

# %% mean_of_the_numbers
LIKELY = "the mean is taken over the row, too"
HINT = "What shape does the mean of rows have?"
REPLACE = {"return self.total / self.count": "return self.total.mean() / self.count"}

# %% appends_in_place
LIKELY = "the caller's row is changed"
HINT = "Print the row before and after."
VALUES_RIGHT = True
REPLACE = {"self.total = self.total + row": "row += self.total\nself.total = row.copy()"}

# %% any_width
LIKELY = "a row of another width is not refused"
HINT = "Append three numbers to a log of width 2."
VALUES_RIGHT = True
REPLACE = {"if len(row) != len(self.total):": "if len(row) < 0:", "self.total = self.total + row": "self.total = self.total + row[: len(self.total)]"}
