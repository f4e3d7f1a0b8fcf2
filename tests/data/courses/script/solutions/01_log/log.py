# %%
import numpy as np


# %%
class Log:
    """Remembers rows of a given width."""

    def __init__(self, width):
        ### BEGIN SOLUTION
        self.total = np.zeros(width)
        self.count = 0
        ### END SOLUTION

    def append(self, row):
        """Add a row, and return how many there are; ValueError naming both widths if its width is another one."""
        ### BEGIN SOLUTION
        if len(row) != len(self.total):
            raise ValueError(f"a row of {len(row)} in a log of width {len(self.total)}")
        self.total = self.total + row
        self.count += 1
        return self.count
        ### END SOLUTION

    def mean(self):
        """Return the mean of all rows so far."""
        ### BEGIN SOLUTION
        return self.total / self.count
        ### END SOLUTION

    @property
    def length(self):
        """The number of rows so far."""
        ### BEGIN SOLUTION
        return self.count
        ### END SOLUTION
