# The commands a newcomer needs: demo, shop, sandbox, server, test. `make help` lists all of them.

.PHONY: demo shop sandbox server server-demo help test check test-times packages test-rust test-sandbox test-python test-kotlin test-swift test-shops certify
.PHONY: soak simulate fuzz sanitize wheel sdist jar jars apk bench bench-against format lint release-check docs pictures

# Where cargo puts what it builds for development.
DEBUG = $(or $(CARGO_TARGET_DIR),target)/debug

demo: ## Run a payment of every kind against the sandbox
	@scripts/ci/ensure-tools cargo cc
	cargo run --quiet --locked -p kassa-checkout --bin checkout -- all

shop: ## Start a web shop with its own server and sandbox; open the addresses that it prints
	@scripts/ci/ensure-tools cargo cc python3
	@scripts/python/run-shop

sandbox: ## Start the sandbox with invented payments; open the address that it prints
	@scripts/ci/ensure-tools cargo cc
	cargo run --quiet --locked -p kassa-sandbox -- --seed-demo 2000

server: ## Start kassa-server with a sandbox; prints addresses, curl commands and events; EVENTS_URL=... sends the events to your shop
	@scripts/ci/ensure-tools cargo cc
	cargo build --quiet --locked -p kassa-server -p kassa-server-demo
	@$(DEBUG)/kassa-server-demo start $(if $(EVENTS_URL),--events-url '$(EVENTS_URL)')

server-demo: ## Kill the server in the middle of four payments, and show what happens to the money
	@scripts/ci/ensure-tools cargo cc
	cargo build --quiet --locked -p kassa-server -p kassa-server-demo
	@$(DEBUG)/kassa-server-demo play

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## Run all tests, several suites in parallel
	@scripts/ci/ensure-tools git cargo cc python3
	@scripts/ci/run-suites test

check: ## Run all that a change must pass: test, lint, packages and docs, in parallel; .ci/run calls it
	@scripts/ci/ensure-tools git cargo cc python3
	@scripts/ci/run-suites check

test-times: ## Write the table of suite durations in CONTRIBUTING.md, from the last runs
	@scripts/ci/ensure-tools python3
	@scripts/ci/write-test-times

# Packages are built in parallel, too. The output of each is printed when it ends, if make supports that.
SIDE_BY_SIDE = $(MAKE) --no-print-directory $(if $(shell command -v flock),--jobs 2) \
	$(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

packages: ## Build what users install: wheels, sdist and jars
	@scripts/ci/ensure-tools cargo cc python3 javac mvn strip
	@$(SIDE_BY_SIDE) wheel sdist jars

test-rust: ## Test the core and the example checkout
	@scripts/ci/ensure-tools cargo cc python3
	@scripts/ci/require-tests scripts/ci/rust-tests test kassa kassa-checkout

test-sandbox: ## Test the sandbox
	@scripts/ci/ensure-tools cargo cc curl
	cargo test --locked -p kassa-sandbox

test-python: ## Lint and test the Python packages and the web shop, pages in a browser
	@scripts/ci/ensure-tools cargo cc python3 libpython chromium node
	@scripts/ci/run-suites python

test-kotlin: ## Test the Kotlin packages and examples: conformance vectors, Android screens, AARs
	@scripts/ci/ensure-tools cargo cc javac mvn strip aapt2
	scripts/kotlin/test-packages

test-swift: ## Test the Swift packages and examples, warnings as errors; on Debian, installs Swift if it is missing
	@scripts/ci/ensure-tools cargo cc
	scripts/swift/test-packages

test-shops: ## Test the small shops in Python, Node, PHP and Java, with a payment in each
	@scripts/ci/ensure-tools cargo cc python3 node npm php javac curl
	scripts/shops/test

certify: export KASSA_CERTIFY_ALL = $(if $(ALL),1)
certify: ## Run kassa-certify on two example shops and on a few copies with one mistake each; ALL=1 for all, half an hour
	@scripts/ci/ensure-tools cargo cc python3 node npm php javac
	scripts/shops/certify

soak: export KASSA_SCHEDULES = $(or $(SCHEDULES),1000000)
soak: export KASSA_PROCESS_SCHEDULES = $(or $(PROCESS_SCHEDULES),2000)
soak: export KASSA_FLEET_SCHEDULES = $(or $(FLEET_SCHEDULES),1000)
soak: ## Run random schedules: 1,000,000 each of core and server in memory (SCHEDULES=N), 5,000 over sockets, 2,000 with real processes, 1,000 as a fleet
	@scripts/ci/ensure-tools cargo cc
	scripts/ci/require-tests cargo test --release --locked -p kassa --lib schedules::play::nothing_is_lost
	KASSA_SCHEDULES=$(or $(SOCKET_SCHEDULES),5000) scripts/ci/require-tests cargo test --release --locked -p kassa --test gateway schedules::nothing_is_lost
	scripts/ci/require-tests cargo test --release --locked -p kassa-server --test server schedules::random_schedules
	scripts/ci/require-tests cargo test --release --locked -p kassa-server --test processes schedules::
	KASSA_EXCHANGES=$(or $(EXCHANGES),100000) scripts/ci/require-tests cargo test --release --locked -p kassa-sandbox --test sandbox random_exchanges_pass_byte_for_byte

simulate: ## Simulate a hundred million open payments on 200 servers, and draw the charts of docs/; five minutes, 3 GB
	@scripts/ci/ensure-tools cargo cc
	KASSA_PICTURES=$(CURDIR)/docs/pictures scripts/ci/require-tests cargo test --release --locked -p kassa-server --lib pace::simulation -- --ignored --nocapture

fuzz: ## Fuzz every parser of external bytes, a minute each, or TIME=600 seconds; TARGETS="response qr_data" for some
	@scripts/ci/ensure-tools cargo cc c++
	scripts/ci/fuzz-parsers $(TARGETS)

sanitize: ## Run the tests of the native library and the Python package under the address sanitizer, on Linux
	@scripts/ci/ensure-tools cargo cc python3
	scripts/ci/sanitize-native

wheel: ## Build the Python wheels, and test them in fresh environments of every CPython found
	@scripts/ci/ensure-tools cargo cc python3 strip
	scripts/python/build-wheel
	scripts/python/build-sandbox-wheel
	scripts/python/build-server-wheel
	scripts/python/try-quick-start $${CARGO_TARGET_DIR:-target}/wheels

sdist: ## Build the Python source distribution, and install it with pip
	@scripts/ci/ensure-tools cargo cc python3
	scripts/python/build-sdist

jar: ## Install the SDK's jar into the local Maven repository; PACKAGES="kassa kassa-sandbox" for more
	@scripts/ci/ensure-tools cargo cc javac mvn strip
	scripts/kotlin/install-jars $(PACKAGES)

jars: ## Build the jars of all Kotlin packages as released, with documentation, and test them
	@scripts/ci/ensure-tools cargo cc javac mvn strip
	scripts/kotlin/build-jars

apk: ## Build the AARs and a small Android app, shrunk by R8 and signed; FOLDER= has the native libraries for phones, by default stubs
	@scripts/ci/ensure-tools cargo cc javac mvn strip aapt2 zipalign apksigner
	scripts/kotlin/build-apk $(FOLDER)

bench: ## Measure Kassa and its peers; writes BENCHMARKS.md
	@scripts/ci/ensure-tools cargo cc python3 strip
	scripts/ci/run-benchmarks

bench-against: ## List what became slower since an earlier commit: REV=HEAD~5 SUITES="rust_query python_blocking"
	@scripts/ci/ensure-tools git cargo cc python3 strip
	scripts/ci/bench-against $(REV) $(or $(SUITES),rust_query python_blocking python_asyncio)

release-check: packages ## Test a release without publishing; TARGETS=x86_64-unknown-linux-musl for one other system
	@scripts/ci/ensure-tools git cargo cc python3 javac mvn strip aapt2 go gpg rustup
	scripts/release/check $(TARGETS)

docs: ## Build the documentation site with the API references; KASSA_SITE_URL=https://... is its public address
	@scripts/ci/ensure-tools git cargo cc python3 javac mvn strip aapt2 chromium
	scripts/docs/build

pictures: ## Retake the product's pictures in the documentation; look at them before you commit
	@scripts/ci/ensure-tools cargo cc python3 chromium
	env=$$(scripts/python/install-packages) && "$$env/bin/python" scripts/docs/take-pictures

format: ## Format the Rust and Python code, and sort Python's imports
	@scripts/ci/ensure-tools cargo cc python3
	cargo fmt --all
	scripts/python/test-packages --format

lint: ## Check format, clippy, docs, embedded code, licences, banned and duplicate crates, and merge markers
	@scripts/ci/ensure-tools cargo cc git python3
	git grep --line-number --extended-regexp '^(<{7}|>{7}) '; test $$? -eq 1
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked -p kassa-sandbox -p kassa-server --lib --bins -- -D warnings # without the features that their tests enable
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps --quiet
	scripts/ci/check-crates
	scripts/release/write-notices --check
	scripts/docs/write-code --check
