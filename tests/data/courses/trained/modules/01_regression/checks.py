"""Visible checks of 01_regression."""

import torch

from grader.testing import array_like, assert_close, generator, worth


@worth(1, "a batch has as many rows as were asked for")
def test_batch_has_its_size(student):
    array_like(student.draw_batch(torch.ones(5, 2), 3, generator(0)), (3, 2))


@worth(1, "without steps, there are no losses", target="train")
def test_no_steps(student):
    assert_close(student.train(torch.ones(4, 3), 0, generator(0)), [])
