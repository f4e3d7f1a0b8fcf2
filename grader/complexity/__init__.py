"""Cost without a clock: what student code counts up to, as an exact polynomial in the sizes of its input."""
