# schedproof. `make` alone prints this help; every target is one line into the command line `schedproof`.
# NAME=value after the target turns a knob (README, "Knobs"): make e2e KEEP=1 SCHEDULER_VERSION=v1.36.3 ARGS="-k pending"
# Exit codes are in the README; make itself turns each of them but 0 into 2, `.venv/bin/schedproof` does not.

PYTHON ?= python3
VENV := .venv
SCHEDPROOF := $(VENV)/bin/schedproof

.DEFAULT_GOAL := help
.PHONY: help e2e test mutants doctor claims bench shell clean lock

help: ## this help
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

e2e: $(VENV)/ready ## prove the claims on a kind cluster (SUITE=documents); PLAN=1 only says what it would do
	@$(SCHEDPROOF) e2e

test: $(VENV)/ready ## lint, types and self-tests; no cluster, under a minute
	@$(SCHEDPROOF) test

mutants: $(VENV)/ready ## break each claim's input and see the claim fail
	@$(SCHEDPROOF) mutants

doctor: $(VENV)/ready ## is this machine fit? one line a finding, with its cure
	@$(SCHEDPROOF) doctor

claims: $(VENV)/ready ## write docs/claims.md: document line -> claim -> mutant
	@$(SCHEDPROOF) claims

bench: $(VENV)/ready ## how fast, beside what people use instead (JSON in artifacts/)
	@$(VENV)/bin/python -m bench $(ARGS)

shell: $(VENV)/ready ## a shell with kubectl on the kept cluster (KEEP=1)
	@$(SCHEDPROOF) shell

clean: $(VENV)/ready ## list and remove what schedproof made on this machine (ARGS=--list only lists)
	@$(SCHEDPROOF) clean $(ARGS)
	@$(if $(ARGS),,rm -rf $(VENV) .venv-bench)

lock: ## resolve requirements.txt and requirements-bench.txt anew (needs uv)
	uv pip compile -q pyproject.toml requirements.in --extra dev $(LOCK_OPTIONS) -o requirements.txt
	uv pip compile -q pyproject.toml requirements.in --extra dev --extra bench -c requirements.txt $(LOCK_OPTIONS) -o requirements-bench.txt

LOCK_OPTIONS := --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header

$(VENV)/ready: requirements.txt pyproject.toml
	@$(PYTHON) .ci/venv.py $(VENV)
