# The commands a newcomer needs: demo, test, bench, lint.

.PHONY: demo test test-rust test-sandbox test-python wheel bench lint

demo: ## Watch a payment of every kind against the sandbox
	@scripts/need cargo cc
	cargo run --quiet --locked -p kassa-checkout --bin checkout -- all

test: ## Everything there is
	@scripts/need cargo cc
	cargo test --locked --workspace
	cargo check --locked -p kassa --no-default-features # a phone's build: no sandbox, no bindings
	@$(MAKE) --no-print-directory test-python

test-rust: ## The core and the checkout
	@scripts/need cargo cc
	cargo test --locked -p kassa -p kassa-checkout

test-sandbox: ## The sandbox
	@scripts/need cargo cc
	cargo test --locked -p kassa-sandbox

test-python: ## The Python package: ruff, mypy, pyright, and its tests against the sandbox
	@scripts/need cargo cc python3
	scripts/test-python

wheel: ## The Python wheel, stripped, tried in a fresh environment
	@scripts/need cargo cc python3 strip
	scripts/python-wheel

bench: ## Figures, as ratios in one run
	@scripts/need cargo cc
	cargo bench --locked -p kassa

lint: ## Format, clippy, documentation, licences and banned or doubled crates
	@scripts/need cargo cc
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps --quiet
	scripts/deny
