# One verb a job; CI calls the same ones. `make demo` and `make test` install what they need on a fresh machine.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: install demo test lint types bench lock clean
.DELETE_ON_ERROR:

install: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "amends needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY)
	$(BIN)/amends demo

test: $(READY)
	$(BIN)/pytest $(TESTS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PYTHONPATH= $(BIN)/lint-imports

types: $(READY)
	@mkdir -p .types && ln -sfn .. .types/amends
	MYPYPATH=.types $(BIN)/mypy -p amends

bench: $(READY)
	$(BIN)/python -m amends.benchmarks.main

# Pins every package with the hashes of its files, and names no registry.
lock: $(READY)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --no-header --extra dev --output-file constraints.txt pyproject.toml

clean:
	rm -rf $(VENV) .types build dist *.egg-info
