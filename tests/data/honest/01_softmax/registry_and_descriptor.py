from __future__ import annotations

import weakref
from functools import cached_property
from typing import Any, Callable

import numpy as np

REGISTRY: dict[str, type[Normaliser]] = {}


class Positive:
    """A descriptor for attributes that must be above 0."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.values: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else self.values.get(instance, 1.0)

    def __set__(self, instance: Any, value: float) -> None:
        if value <= 0:
            raise ValueError(f"{self.name} must be above 0, not {value}")
        self.values[instance] = float(value)


class Normaliser:
    temperature = Positive()

    def __init_subclass__(cls, /, name: str, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        REGISTRY[name] = cls

    def __init__(self, x: Any, axis: int = -1, temperature: float = 1.0) -> None:
        self.temperature = temperature
        self.axis = axis
        x = np.asarray(x)
        self.x = x if x.dtype.kind == "f" else x.astype(np.float64)

    def _along(self, f: Callable[..., np.ndarray], a: np.ndarray) -> np.ndarray:
        return f(a, axis=self.axis, keepdims=True)

    @cached_property
    def shifted(self) -> np.ndarray:
        scores = self.x / self.temperature
        return scores - self._along(np.max, scores)

    @cached_property
    def exps(self) -> np.ndarray:
        return np.exp(self.shifted)

    @cached_property
    def total(self) -> np.ndarray:
        return self._along(np.sum, self.exps)

    @property
    def result(self) -> np.ndarray:
        raise NotImplementedError


class Softmax(Normaliser, name="softmax"):
    @property
    def result(self) -> np.ndarray:
        return self.exps / self.total


class LogSoftmax(Normaliser, name="log_softmax"):
    @property
    def result(self) -> np.ndarray:
        return self.shifted - np.log(self.total)


def softmax(x, axis=-1):
    return REGISTRY["softmax"](x, axis).result


def log_softmax(x, axis=-1):
    return REGISTRY["log_softmax"](x, axis).result


def softmax_with_temperature(x, temperature, axis=-1):
    return REGISTRY["softmax"](x, axis, temperature).result


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709
