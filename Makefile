# Two commands: `make test` and `make lint`. Both make .venv first, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready

.PHONY: setup test lint format bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@echo "==> setting up $(VENV) (once; it downloads NumPy, PyTorch and the test tools)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

test: lint
	@echo "==> tests"
	$(BIN)/python -m pytest

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
