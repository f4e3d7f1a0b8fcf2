# `make demo` and `make test` are all a newcomer needs. Everything that needs .venv makes it first, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready
# Test processes. One more than two cores: while a test waits for a time limit, its core is not idle.
JOBS   ?= 3
# One thread for NumPy and PyTorch: with more, test processes on the same cores wait for each other.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

# Where this is set, Python compiles every file again in every process that imports it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup jail browser database demo wheel check test test-rest test-all test-every style lint format docs site bench gpu clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@echo "==> setting up $(VENV) (once; it downloads NumPy, PyTorch, nbgrader and the test tools)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null || true  # pip may have left it out: torch then starts in twice the time
	@$(MAKE) --no-print-directory jail browser database
	@touch $@

# What pip cannot install. Without it, graded code is still jailed on Linux, but less strictly.
jail:
	@if command -v bwrap >/dev/null || [ "$$(uname)" != Linux ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "==> installing bubblewrap with apt-get"; \
	  { apt-get install -qq -y bubblewrap || { apt-get update -qq && apt-get install -qq -y bubblewrap; }; } >/dev/null 2>&1 \
	  || echo "==> bubblewrap could not be installed: see '$(BIN)/attn doctor'"; \
	else echo "==> bubblewrap is not installed, and only root can do that: see '$(BIN)/attn doctor'"; fi

# For the tests of pages. Without a browser they are skipped, and the last lines of the tests say so.
browser:
	@if command -v chromium chromium-browser google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "==> installing chromium with apt-get"; \
	  { apt-get install -qq -y --no-install-recommends chromium || { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; }; } >/dev/null 2>&1 \
	  || echo "==> chromium could not be installed: the tests of pages in a browser are skipped"; \
	else echo "==> downloading chromium for the tests of pages (into your home folder)"; $(BIN)/python -m playwright install chromium >/dev/null 2>&1 \
	  || echo "==> chromium could not be installed: the tests of pages in a browser are skipped"; fi

# For the tests of results in a database. They start a server of their own; without one they are skipped, and the last lines say so.
database:
	@if command -v pg_ctl >/dev/null || ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "==> installing postgresql with apt-get"; \
	  { apt-get install -qq -y --no-install-recommends postgresql || { apt-get update -qq && apt-get install -qq -y --no-install-recommends postgresql; }; } >/dev/null 2>&1 \
	  || echo "==> postgresql could not be installed: the tests of results in a database are skipped"; \
	else echo "==> postgresql is not installed, and only root can do that: the tests of results in a database are skipped"; fi

# The example class is our own code: it may be graded where there is no jail.
demo: $(READY)
	@echo "==> grading the example class in examples/class (one of the ten never returns: a few seconds)"
	@$(BIN)/attn grade examples/class --allow-unjailed --to reports/demo || test $$? -eq 1  # 1: not all have full marks

# What is published. It is searched for solutions and hidden checks by tests/acceptance/test_installed.py.
wheel: $(READY)
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m zipfile -l dist/*.whl

# While you work: what can notice the files that changed since the last commit, or since SINCE=main.
check: style
	@echo "==> types, and the tests nearest to what changed"
	$(BIN)/mypy
	$(BIN)/python -m tests.changed $(if $(SINCE),--since $(SINCE))

test: style
	@echo "==> types, and everything a change needs (tests/test_types.py runs mypy beside the other tests)"
	$(PYTEST) -m "not exhaustive"

# What takes longer: every attack in every jail, every misconception graded and named, classes of hundreds.
test-rest: $(READY)
	@echo "==> the exhaustive runs"
	$(PYTEST) -m exhaustive

# Both in one run: what they share is made once, and no core waits at the end of the first.
test-all: style
	@echo "==> types, and all tests"
	$(PYTEST)

# test-all leaves out some cases of the longest tests (tests/quick.py, `sampled`). This runs them all: before a release.
test-every: export EVERY_CASE = 1
test-every: test-all

style: $(READY)
	@echo "==> ruff"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint: style
	@echo "==> mypy"
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What is written down elsewhere already: commands in cli/, modules in modules/, tables in grader/. A test fails where these pages are stale.
docs: $(READY)
	$(BIN)/python -m cli.author.command_reference > docs/commands.md
	$(BIN)/python -m cli.author.syllabus > docs/syllabus.md
	$(BIN)/python -m cli.author.register_page > docs/register.md
	$(BIN)/python -m cli.author.reference_tables
	$(BIN)/python -m docs.figures
	$(BIN)/python -m docs.figures.terminal

# Lessons and guides as static pages, for any web server or none.
site: $(READY)
	$(BIN)/python -m cli.author.site build/site

# PARTS="loop growth" measures only those. The peers are installed into .bench, once. CLONE=DIR: see docs/verdicts.md.
bench: $(READY)
	$(BIN)/python -m docs.bench $(PARTS) $(if $(CLONE),--clone $(CLONE))

# On a machine with a GPU: compare the simulated GPU with the real one, and run the suite of 07 on the real one.
gpu: $(READY)
	$(BIN)/python -m tests.acceptance.gpu.agreement
	$(BIN)/python -m tests.acceptance.gpu.whole_suite
	$(BIN)/python -m tests.acceptance.gpu.triton_flash

clean:
	rm -rf $(VENV) .bench build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
