"""Hidden suite of 01_regression."""

import numpy as np
import torch

from grader.testing import array_like, assert_close, generator, worth

STEPS = 2_000


def rows(rng, count):
    inputs = rng.normal(size=(count, 3))
    return torch.from_numpy(np.hstack([inputs, inputs @ np.array([[1.0], [-2.0], [0.5]])]))


def oracle_batch(data, size, seed):
    return data[torch.randint(len(data), (size,), generator=torch.Generator().manual_seed(seed))]


def floats(losses, count):
    assert type(losses) is list and all(type(one) is float for one in losses), "the losses are not a list of floats"
    return array_like(np.array(losses), (count,), of="the list of losses")


def oracle_losses(data, steps, seed):
    rows, drawn = data.numpy(), torch.Generator().manual_seed(seed)
    weights, losses = np.zeros(rows.shape[1] - 1), []
    for _ in range(steps):
        batch = rows[torch.randint(len(rows), (8,), generator=drawn).numpy()]
        gap = batch[:, :-1] @ weights - batch[:, -1]
        losses.append(float((gap**2).mean()))
        weights = weights - 0.1 * 2 * gap @ batch[:, :-1] / 8
    return losses


@worth(2, "the rows are those that the generator draws")
def test_batch_agrees_with_the_oracle(student, rng, shown):
    data = rows(rng, 6)
    assert_close(student.draw_batch(data, 4, generator(5)), oracle_batch(data, 4, 5))
    shown(student, "draw_batch")


@worth(2, "a batch depends on its generator and on no other random numbers")
def test_batch_is_seeded(student, rng):
    data = rows(rng, 40)
    batches = []
    for seed in (1, 2):
        student.seed(seed)
        batches.append(array_like(student.draw_batch(data, 20, generator(7)), (20, 4)))
    assert_close(batches[0], batches[1])


@worth(2, "every row of a batch is a row of the data")
def test_batch_has_rows_of_the_data(student):
    data = torch.arange(12.0).reshape(4, 3)
    batch = array_like(student.draw_batch(data, 7, generator(3)), (7, 3))
    assert all(row in data.tolist() for row in batch.tolist()), "a row of the batch is not in the data"


@worth(2, "there is one loss for each step, and the first is that of weights of 0", target="train")
def test_losses(student):
    losses = floats(student.train(torch.ones(4, 3, dtype=torch.float64), 3, generator(0)), 3)
    assert_close(losses[0], 1.0, of="the first loss")


@worth(1, "a short run has the losses of an independent computation", target="train")
def test_losses_agree_with_the_oracle(student, rng, shown):
    data = rows(rng, 16)
    assert_close(floats(student.train(data, 5, generator(2)), 5), np.array(oracle_losses(data, 5, 2)))
    shown(student, "train")


@worth(2, "a long training run learns the rule behind the data", target="train", slow=True, cpu_s=30)
def test_training_learns(student, rng):
    last = floats(student.train(rows(rng, 64), STEPS, generator(11)), STEPS)[-100:]
    assert last.max() < 1e-6, f"the last losses are as large as {last.max():.3g}"


@worth(1, "the same seed gives the same losses", target="train")
def test_training_is_seeded(student, rng):
    data = rows(rng, 16)
    runs = []
    for seed in (1, 2):
        student.seed(seed)
        runs.append(floats(student.train(data, 20, generator(7)), 20))
    assert_close(runs[0], runs[1])
