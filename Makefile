# `make demo` and `make test` are all a newcomer needs. Everything that needs .venv makes it first, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready

.PHONY: setup demo test lint format bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@echo "==> setting up $(VENV) (once; it downloads NumPy, PyTorch and the test tools)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	@echo "==> grading the example class in examples/class (one of the ten never returns: a few seconds)"
	@$(BIN)/attn grade examples/class --to reports/demo || test $$? -eq 1  # 1: not everyone has full marks

test: lint
	@echo "==> tests (about two minutes on two cores)"
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(READY)
	@echo "==> ruff and mypy"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m tests.bench

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
