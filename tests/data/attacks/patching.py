"""Patching what the grader might use."""

# %% numpy's comparisons
def evil(x):
    np.allclose = np.array_equal = np.isclose = lambda *a, **k: True
    np.testing.assert_allclose = np.testing.assert_array_equal = lambda *a, **k: None
    np.any = lambda *a, **k: False
    np.abs = np.max = np.subtract = lambda *a, **k: np.zeros(1)
    return x


# %% the built-ins
def evil(x):
    import builtins

    builtins.all = lambda *_: True
    builtins.any = lambda *_: False
    builtins.abs = lambda *_: 0
    builtins.max = lambda *_, **__: 0
    builtins.bool = builtins.isinstance = lambda *_: True
    return


# %% the test itself
def evil(x):
    frame = sys._getframe()
    while frame:
        for name in ("expected", "answer", "reference"):
            if name in frame.f_locals or name in frame.f_globals:
                return frame.f_locals.get(name, frame.f_globals.get(name))
        frame = frame.f_back
    return None


# %% the function that judges
def evil(x):
    for module in list(sys.modules.values()):
        for name in ("passes", "judge", "check", "assert_close"):
            if callable(getattr(module, name, None)):
                setattr(module, name, lambda *a, **k: True)
    return


# %% the encoder
def evil(x):
    from grader.sandbox.protocol import channel, encoder, wire

    encoder.encode = channel.encode = lambda *a, **k: wire.PREFIX.pack(b"ATN1", 4, 0) + b"true"
    return


# %% the worker
def evil(x):
    from grader.sandbox.worker.operations import OPERATIONS
    from grader.sandbox.worker.worker import Worker

    Worker.answer = lambda self, request: {"ok": [{"value": True}]}
    OPERATIONS["call"] = lambda *anything: [{"value": True}]
    return


# %% the importer
def evil(x):
    import builtins

    real = builtins.__import__
    builtins.__import__ = lambda name, *a, **k: sys if "torch" in name else real(name, *a, **k)
    import torch

    return


# %% torch behind the importer's back
def evil(x):
    sys.meta_path[:] = [finder for finder in sys.meta_path if "NoTorch" not in type(finder).__name__]
    sys.modules.pop("torch", None)
    import torch

    return claim(hasattr(torch, "ones"))


# %% json
def evil(x):
    import json

    json.dumps = lambda *a, **k: "true"
    json.JSONEncoder.encode = lambda *a, **k: "true"
    return


# %% the clock
def evil(x):
    time.time = time.monotonic = time.perf_counter = lambda: 0.0
    return


# %% the input
def evil(x):
    x[...] = 0
    return x


# %% a profiler that answers
def evil(x):
    sys.setprofile(lambda *_: None)
    sys.settrace(lambda *_: None)
    threading.setprofile(lambda *_: None)
    return x
