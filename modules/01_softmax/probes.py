"""Probes of 01_softmax: the calls that tell its misconceptions apart."""

import numpy as np

from cli.attention.weights_reading import Weights
from grader.diagnosis.probe import probe

PAIR = np.array([0.0, 1.0])
ROWS = np.array([[0.0, 2.0, 1.0], [1.0, 1.0, 3.0]])
SQUARE = np.array([[0.0, 2.0], [1.0, 4.0]])
BLOCK = np.arange(12.0).reshape(2, 3, 2) % 5
SCORES = np.array([0.0, 2.0, 1.0, 1.0, 1.5])  # of the token "The"
FAR = np.array([0.0, -20.0, -40.0, -300.0])
HIGH = np.array([1000.0, 1001.0])
LOW = np.array([-1000.0, -1001.0])
SPIKE = np.array([2000.0, 0.0, 0.0, 1.0])
APART = np.array([[900.0, 901.0], [-900.0, -902.0]])
BEYOND = np.array([0.0, -2000.0])
FLOAT32 = np.array([[0.0, 2.0, 1.0], [89.0, 90.0, 88.0]], dtype=np.float32)
FINE = np.array([[0.0, 2.0, 1.0]], dtype=np.float32)


def logarithms(value):
    """Return the logarithms, which show the difference between small weights."""
    with np.errstate(all="ignore"):
        return np.log(value)


def accepted(_value):
    """Return the same text for any result of arguments that should raise an error."""
    return "not refused"


PROBES = [
    probe("softmax", PAIR),
    probe("softmax", SQUARE, reads=Weights(SQUARE)),
    probe("softmax", ROWS, reads=Weights(ROWS)),
    probe("softmax", ROWS, kwargs={"axis": 0}),
    probe("softmax", SQUARE, kwargs={"axis": 0}),
    probe("softmax", BLOCK),
    probe("softmax", BLOCK, kwargs={"axis": 1}),
    probe("softmax", BLOCK, kwargs={"axis": 0}),
    probe("softmax", np.array([0, 1, 3])),
    probe("softmax", HIGH),
    probe("softmax", LOW),
    probe("softmax", np.array([-400.0, -402.0])),
    probe("softmax", SPIKE),
    probe("softmax", np.array([0.0, 800.0])),
    probe("softmax", APART),
    probe("softmax", APART.T.copy()),
    probe("softmax", FAR, look=logarithms, said="[0, -20, -40, -300], in logarithms"),
    probe("softmax", FINE),
    probe("softmax", FLOAT32),
    probe("softmax", SCORES),
    probe("log_softmax", PAIR),
    probe("log_softmax", SQUARE),
    probe("log_softmax", ROWS),
    probe("log_softmax", ROWS, kwargs={"axis": 0}),
    probe("log_softmax", BLOCK, kwargs={"axis": 1}),
    probe("log_softmax", np.array([0, 1, 3])),
    probe("log_softmax", BEYOND),
    probe("log_softmax", HIGH),
    probe("log_softmax", LOW),
    probe("log_softmax", APART),
    probe("log_softmax", FINE),
    probe("log_softmax", SCORES),
    probe("softmax_with_temperature", PAIR, 2.0),
    probe("softmax_with_temperature", PAIR, 0.5),
    probe("softmax_with_temperature", ROWS, 1.0, reads=Weights(ROWS)),
    probe("softmax_with_temperature", ROWS, 2.5, reads=Weights(ROWS, scale=2.5)),
    probe("softmax_with_temperature", ROWS, 3.0, kwargs={"axis": 0}),
    probe("softmax_with_temperature", np.array([0, 1, 3]), 2),
    probe("softmax_with_temperature", PAIR, 0.01),
    probe("softmax_with_temperature", PAIR, 100.0),
    probe("softmax_with_temperature", PAIR / 4096, 1 / 4096),
    probe("softmax_with_temperature", BEYOND, 1000.0),
    probe("softmax_with_temperature", BEYOND, 500.0),
    probe("softmax_with_temperature", HIGH, 0.5),
    probe("softmax_with_temperature", APART, 4.0),
    probe("softmax_with_temperature", FINE, 2.0),
    # No `names`: any message is likely to contain a 0.
    probe("softmax_with_temperature", PAIR, 0.0, look=accepted, said="[0, 1] at a temperature of 0"),
    probe("softmax_with_temperature", PAIR, -2.0, names=(-2.0,), look=accepted, said="[0, 1] at a temperature of -2"),
    probe("softmax_with_temperature", SCORES, 2.0),
]
