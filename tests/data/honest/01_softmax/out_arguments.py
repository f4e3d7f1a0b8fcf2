import numpy

# I come from C: one buffer, everything in place.


def _copy(x):
    dtype = numpy.float32 if getattr(x, "dtype", None) == numpy.float32 else numpy.float64
    buf = numpy.empty(numpy.shape(x), dtype=dtype)
    numpy.copyto(buf, x)
    return buf


def softmax(x, axis=-1):
    buf = _copy(x)
    numpy.subtract(buf, numpy.maximum.reduce(buf, axis=axis, keepdims=True), out=buf)
    numpy.exp(buf, out=buf)
    numpy.true_divide(buf, numpy.add.reduce(buf, axis=axis, keepdims=True), out=buf)
    return buf


def log_softmax(x, axis=-1):
    buf = _copy(x)
    buf -= numpy.maximum.reduce(buf, axis=axis, keepdims=True)
    tmp = numpy.empty_like(buf)
    numpy.exp(buf, out=tmp)
    sums = numpy.add.reduce(tmp, axis=axis, keepdims=True)
    numpy.log(sums, out=sums)
    numpy.subtract(buf, sums, out=buf)
    del tmp, sums
    return buf


def softmax_with_temperature(x, temperature, axis=-1):
    if not (temperature > 0):
        raise ValueError("temperature = {0}; want temperature > 0".format(temperature))
    buf = _copy(x)
    buf /= temperature
    return softmax(buf, axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709
