.PHONY: help setup agents docling demo demo-slurm test lint lock schemas containers format clean

AT_ONCE ?= 2
# Test files that run side by side: much of the time is waiting for clients, sandboxes and Slurm.

help: ## what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install what the demo needs
	@scripts/setup.sh demo

agents: setup ## install the clients of the agents; codex needs npm (docs/agents.md)
	@scripts/agents.sh

docling: ## install Docling for parsing papers, in .venv-docling (docs/papers.md)
	@scripts/docling.sh

demo: setup ## sample claims through all seven stations, offline
	@scripts/demo.sh

demo-slurm: ## the same on a throw-away Slurm cluster of four virtual nodes
	@scripts/setup.sh demo-slurm
	@scripts/demo-slurm.sh

test: ## everything the tests need, then all checks and tests
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory lint
	.venv/bin/pytest -n $(AT_ONCE) --dist loadfile --max-worker-restart 1

lint: # style, types, import order, workflow
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	for each in tests/*/conftest.py; do .venv/bin/mypy --no-error-summary $$each || exit 1; done
	.venv/bin/lint-imports
	.venv/bin/matproof schema --check
	.venv/bin/snakefmt --line-length 120 --check Snakefile workflow
	.venv/bin/snakemake --lint

format: ## put every file into the common form
	.venv/bin/ruff check --fix --quiet .
	.venv/bin/ruff format --quiet .
	.venv/bin/snakefmt --line-length 120 Snakefile workflow

containers: ## images for the Apptainer sandbox, one line each (docs/containers.md)
	@scripts/containers.sh

schemas: ## write docs/schemas from the models
	.venv/bin/matproof schema

lock: ## pin the dependencies again (needs uv on PATH)
	uv pip compile pyproject.toml --extra build --extra dev --extra science --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-annotate --no-header --upgrade --quiet -o requirements/dev.lock
	uv pip compile pyproject.toml --extra build --extra science -c requirements/dev.lock --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header --quiet \
		-o requirements/demo.lock
	uv pip compile requirements/inspect.in --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-emit-find-links --no-annotate --no-header --upgrade --quiet -o requirements/inspect.lock

clean: ## delete all runs and results (CONFIRM=yes); the installation stays
	@test "$(CONFIRM)" = yes || { echo "this deletes every run and its evidence in results/ and results-slurm/: make clean CONFIRM=yes"; exit 1; }
	rm -rf results results-slurm .snakemake
