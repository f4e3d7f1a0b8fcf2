"""Hana: uses a library that the course does not allow and the machine does not have."""

from scipy_extras.special import softmax as their_softmax


def softmax(x, axis=-1):
    return their_softmax(x, axis=axis)
