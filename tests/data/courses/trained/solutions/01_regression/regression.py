# %%
import torch


# %%
def draw_batch(data, batch_size, generator):
    """Return batch_size rows of data, drawn with replacement by torch.randint with this generator."""
    ### BEGIN SOLUTION
    return data[torch.randint(len(data), (batch_size,), generator=generator)]
    ### END SOLUTION


# %%
def train(data, steps, generator):
    """Fit a linear model to data, whose last column is the target, and return the loss of every step, a list of floats.

    The weights start at 0. Each step draws 8 rows with draw_batch, takes the mean squared error before the update, and
    then moves the weights by -0.1 times its gradient.
    """
    ### BEGIN SOLUTION
    weights = torch.zeros(data.shape[1] - 1, dtype=data.dtype, requires_grad=True)
    losses = []
    for _ in range(steps):
        batch = draw_batch(data, 8, generator)
        loss = (batch[:, :-1] @ weights - batch[:, -1]).square().mean()
        (slope,) = torch.autograd.grad(loss, weights)
        losses.append(loss.item())
        weights = (weights - 0.1 * slope).detach().requires_grad_()
    return losses
    ### END SOLUTION
