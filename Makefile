# Each target is one command on a fresh machine: it makes .venv first, and says what it installs.  `make` lists them.
.DEFAULT_GOAL := help
.PHONY: framework-tests record venv-test help demo docs picture test tests check nightly coverage fix mutations lint bench conformance faults fuzz golden lock lowest launchers zig deps wheel wine clean venv
RUN := .venv/bin/python
# Every process of the tests reads the bytecode that the first one wrote.
unexport PYTHONDONTWRITEBYTECODE
UV := uv==0.13.8
# Code that waits to be replaced or deleted, which no test is written for any more.
NOT_MUTATED := systems/fastmcp,mcpc/packages,mcpc/release/locking,schema/ecma,platforms/windows

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

venv:
	@.ci/venv .venv

venv-test:
	@.ci/venv .venv '' test

demo: venv  ## build examples/files and hold a conversation with it
	@$(RUN) examples/demo.py

docs: venv  ## build the documentation site in build/site; a broken link is an error
	@cd docs && PYTHONPATH=.:../compiler:../runtime ../$(RUN) -m generation

picture: venv  ## record the terminal that README shows
	@cd docs && PYTHONPATH=.:../compiler:../runtime ../$(RUN) -m generation.terminal

test: venv-test  ## run what guards daily work: what a change reaches, or all without one (ALL=1: all)
	@$(RUN) tests/tiers.py test $(PYTEST)

tests: venv  ## run the tests of every folder (PYTEST='…': more options)
	@$(RUN) tests/tiers.py check $(PYTEST)

check: lint tests  ## run every check, then every test that a change reaches

nightly:  ## run everything: every case, new random seeds, Windows under Wine, mutations, soak and fuzzing (hours)
	@.ci/nightly

record: venv-test  ## record what FastMCP and the SDK answer, and say what differs from the records (FRAMEWORK=fastmcp==X: one)
	@$(RUN) bench/record_frameworks.py $(FRAMEWORK)

framework-tests: venv  ## run FastMCP's own tests with what the build takes for them (FRAMEWORK='4.1.2 4.2.3')
	@$(RUN) bench/framework_suite.py $(FRAMEWORK)

coverage: venv-test  ## run `make test ALL=1` under coverage, with branches, and write build/coverage
	@ALL=1 $(RUN) tests/tiers.py test --cov=compiler/mcpc --cov=runtime/mcpc_runtime --cov-branch \
	  --cov-report=html:build/coverage --cov-report=term:skip-covered

fix: venv-test  ## mend what ruff can, and format
	.venv/bin/ruff check --fix --quiet . || true
	.venv/bin/ruff format .

lint: venv-test  ## run every check but the tests
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.ci/types
	.venv/bin/lint-imports
	.venv/bin/vulture
	.venv/bin/codespell
	@cd tests && ../$(RUN) -m lint
	@if command -v shellcheck >/dev/null; then \
	  echo shellcheck; shellcheck .ci/* $$(find examples templates compiler -name '*.sh' -o -name '*.bash'); \
	elif [ "$$TESTS_REQUIRE_ALL" = 1 ]; then echo 'shellcheck is not installed'; exit 1; \
	else echo 'shellcheck is not installed: skipped'; fi

bench: venv  ## measure start, memory, calls, scale and builds, print ratios, and draw them (BENCH=--quick: shorter, only prints)
	@$(RUN) bench/run.py $(or $(BENCH),--save)

conformance: venv  ## hold examples/everything against the official suite (CONFORMANCE='ping --part 2025-11-25')
	@cd tests && PYTHONPATH=../compiler:../runtime ../$(RUN) -m conformance $(CONFORMANCE)

faults: venv  ## run the fault suite and print its table (FAULTS='D09 E --form bash', TESTS_SOAK=1000000, TESTS_FULL=1)
	@cd tests && ../$(RUN) -m faults $(FAULTS)

mutations: venv  ## make small random changes and count those that the nearest tests find (MUTATIONS='--seed 7 --count 20')
	@$(RUN) bench/mutations.py --skip $(NOT_MUTATED) $(MUTATIONS)

fuzz: venv  ## fuzz what a client sends, for SECONDS (20); with atheris where it is installed
	@cd tests && PYTHONPATH=../compiler:../runtime ../$(RUN) -m fuzz $(or $(SECONDS),20)

golden: venv  ## accept what golden tests found, and show the difference
	$(RUN) -m pytest -q --accept
	git diff --stat -- tests

lock: venv  ## compile the lock files from pyproject.toml
	@echo 'Installing $(UV) into .cache/lock to compile the locks'
	@test -x .cache/lock/bin/uv || $(RUN) -m venv .cache/lock
	@.cache/lock/bin/python -m pip -qq --disable-pip-version-check install $(UV)
	@.ci/lock .cache/lock/bin/uv

lowest: venv  ## run the core tests with the lowest versions of every dependency that pyproject.toml allows
	@test -x .cache/lock/bin/uv || $(RUN) -m venv .cache/lock
	@.cache/lock/bin/python -m pip -qq --disable-pip-version-check install $(UV)
	@.ci/lowest .cache/lock/bin/uv

launchers: zig  ## build the launchers for Windows
	@.ci/launchers .cache/launchers/bin/python
	git diff --stat -- compiler/mcpc/interpreters/launchers

zig:  ## install the C compiler of the launchers, of requirements-launchers.lock (100 MB are downloaded)
	@test -x .cache/launchers/bin/python || python3 -m venv .cache/launchers
	@.cache/launchers/bin/python -m pip -qq --disable-pip-version-check install --require-hashes -r requirements-launchers.lock

deps:  ## install the programs that tests use besides Python, or say how
	@.ci/packages

wine: venv  ## install Wine and two Pythons for Windows, for tests/platforms (1.5 GB)
	@.ci/wine $(RUN) .cache/wine

wheel: venv-test  ## build the wheel of mcpc in dist, the same bytes from the same tree
	@env -u SOURCE_DATE_EPOCH $(RUN) -m hatchling build --target wheel

clean:  ## remove what was built, and every cache but .venv
	rm -rf build dist .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +
