"""Misconceptions of 01_regression."""

import torch

# %% unseeded
LIKELY = "the rows are drawn without the generator, so a run cannot be repeated"
HINT = "Call it twice with a generator of the same seed. Do you get the same rows?"
REPLACE = {
    "return data[torch.randint(len(data), (batch_size,), generator=generator)]": (
        "return data[torch.randint(len(data), (batch_size,))]"
    ),
}

# %% one_row_too_few
LIKELY = "a batch has one row too few"
HINT = "Count the rows of a batch of 3."
REPLACE = {
    "return data[torch.randint(len(data), (batch_size,), generator=generator)]": (
        "return data[torch.randint(len(data), (batch_size - 1,), generator=generator)]"
    ),
}

# %% adds_one
LIKELY = "a batch contains other numbers than the data"
HINT = "Is every row of the batch a row of the data?"
REPLACE = {
    "return data[torch.randint(len(data), (batch_size,), generator=generator)]": (
        "return data[torch.randint(len(data), (batch_size,), generator=generator)] + 1"
    ),
}

# %% uphill
LIKELY = "the weights move up the gradient, so the loss grows"
HINT = "Print the losses. In which direction does a gradient point?"
REPLACE = {
    "weights = (weights - 0.1 * slope).detach().requires_grad_()": (
        "weights = (weights + 0.1 * slope).detach().requires_grad_()"
    ),
}

# %% never_updated
LIKELY = "the weights stay at 0: nothing is learnt"
HINT = "Print the losses. Do they become smaller?"
REPLACE = {"weights = (weights - 0.1 * slope).detach().requires_grad_()": "weights = weights.detach().requires_grad_()"}

# %% one_step_too_many
LIKELY = "there is one step too many"
HINT = "How many losses are there after 3 steps?"
REPLACE = {"for _ in range(steps):": "for _ in range(steps + 1):"}

# %% batch_modifies_the_data
LIKELY = "draw_batch changes the data"
HINT = "Print the data before and after the call."


def draw_batch(data, batch_size, generator):
    batch = data[torch.randint(len(data), (batch_size,), generator=generator)]
    data += 1
    return batch


# %% training_modifies_the_data
LIKELY = "train changes the data"
HINT = "Print the data before and after the call."
VALUES_RIGHT = True
REPLACE = {"return losses": "data += 1\nreturn losses"}
