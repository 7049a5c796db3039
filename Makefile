# The commands a newcomer needs: demo, shop, sandbox, server, test. `make help` lists all of them.

.PHONY: demo shop sandbox server server-demo help test check test-times packages test-rust test-sandbox test-python test-kotlin test-swift test-shops certify
.PHONY: soak simulate fuzz sanitize wheel sdist jar jars apk bench bench-against lint release-check docs pictures

# Where cargo puts what it builds for development.
DEBUG = $(or $(CARGO_TARGET_DIR),target)/debug

demo: ## Watch a payment of every kind against the sandbox
	@scripts/ci/ensure-tools cargo cc
	cargo run --quiet --locked -p kassa-checkout --bin checkout -- all

shop: ## A web shop, with a server and a sandbox of its own; open the addresses that it prints
	@scripts/ci/ensure-tools cargo cc python3
	@scripts/python/run-shop

sandbox: ## The gateway's side with an invented history; open the address that it prints
	@scripts/ci/ensure-tools cargo cc
	cargo run --quiet --locked -p kassa-sandbox -- --seed-demo 2000

server: ## The merchant's side, with a sandbox behind it: its addresses, pages, curl lines and events; EVENTS_URL=... sends these to your shop
	@scripts/ci/ensure-tools cargo cc
	cargo build --quiet --locked -p kassa-server -p kassa-server-demo
	@$(DEBUG)/kassa-server-demo start $(if $(EVENTS_URL),--events-url '$(EVENTS_URL)')

server-demo: ## Watch the server being killed in the middle of four payments, and what happens to the money
	@scripts/ci/ensure-tools cargo cc
	cargo build --quiet --locked -p kassa-server -p kassa-server-demo
	@$(DEBUG)/kassa-server-demo play

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## Everything there is, its suites side by side
	@scripts/ci/ensure-tools git cargo cc python3
	@scripts/ci/run-suites test

check: ## All that a change must pass: test, lint, packages and docs side by side; .ci/run calls it
	@scripts/ci/ensure-tools git cargo cc python3
	@scripts/ci/run-suites check

test-times: ## What each suite took in the last runs, and how much of that it computed; writes the table of CONTRIBUTING.md
	@scripts/ci/ensure-tools python3
	@scripts/ci/write-test-times

# Packages are built side by side, too. What each prints comes when it ends, where make can do that.
SIDE_BY_SIDE = $(MAKE) --no-print-directory $(if $(shell command -v flock),--jobs 2) \
	$(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

packages: ## What users install: wheel, sdist and jars
	@scripts/ci/ensure-tools cargo cc python3 javac mvn strip
	@$(SIDE_BY_SIDE) wheel sdist jars

test-rust: ## The core and the checkout
	@scripts/ci/ensure-tools cargo cc python3
	@scripts/ci/require-tests scripts/ci/rust-tests test kassa kassa-checkout

test-sandbox: ## The sandbox
	@scripts/ci/ensure-tools cargo cc curl
	cargo test --locked -p kassa-sandbox

test-python: ## The Python packages and the web shop: ruff, mypy, pyright, and their tests, in a browser where there are pages
	@scripts/ci/ensure-tools cargo cc python3 libpython chromium node
	@scripts/ci/run-suites python

test-kotlin: ## The Kotlin packages and examples: their tests against the sandbox, the conformance vectors, Android's screens, the AARs
	@scripts/ci/ensure-tools cargo cc javac mvn strip aapt2
	scripts/kotlin/test-packages

test-swift: ## The Swift package and its example, warnings as errors; on Debian, Swift is set up where it is missing
	@scripts/ci/ensure-tools cargo cc
	scripts/swift/test-packages

test-shops: ## The small shops that use the server, in Python, Node, PHP and Java: a payer pays in each
	@scripts/ci/ensure-tools cargo cc python3 node npm php javac curl
	scripts/shops/test

certify: export KASSA_CERTIFY_ALL = $(if $(ALL),1)
certify: ## kassa-certify on two of the example shops and on a few copies with a mistake each; ALL=1 on all of them, half an hour
	@scripts/ci/ensure-tools cargo cc python3 node npm php javac
	scripts/shops/certify

soak: export KASSA_SCHEDULES = $(or $(SCHEDULES),1000000)
soak: export KASSA_PROCESS_SCHEDULES = $(or $(PROCESS_SCHEDULES),2000)
soak: export KASSA_FLEET_SCHEDULES = $(or $(FLEET_SCHEDULES),1000)
soak: ## A million random schedules in memory of the core, and as many of the server, or SCHEDULES=5000000; over sockets 5,000, with real processes 2,000 on a file, 1,000 as a fleet
	@scripts/ci/ensure-tools cargo cc
	scripts/ci/require-tests cargo test --release --locked -p kassa --lib schedules::play::nothing_is_lost
	KASSA_SCHEDULES=$(or $(SOCKET_SCHEDULES),5000) scripts/ci/require-tests cargo test --release --locked -p kassa --test gateway schedules::nothing_is_lost
	scripts/ci/require-tests cargo test --release --locked -p kassa-server --test server schedules::random_schedules
	scripts/ci/require-tests cargo test --release --locked -p kassa-server --test processes schedules::
	KASSA_EXCHANGES=$(or $(EXCHANGES),100000) scripts/ci/require-tests cargo test --release --locked -p kassa-sandbox --test sandbox random_exchanges_pass_byte_for_byte

simulate: ## A fleet at internet scale: a hundred million open payments on 200 servers, drawn for docs/; five minutes, 3 GB
	@scripts/ci/ensure-tools cargo cc
	KASSA_PICTURES=$(CURDIR)/docs/pictures scripts/ci/require-tests cargo test --release --locked -p kassa-server --lib pace::simulation -- --ignored --nocapture

fuzz: ## The fuzzing engine at every parser of bytes from outside, a minute each, or TIME=600 seconds; TARGETS="response qr_data" for some
	@scripts/ci/ensure-tools cargo cc c++
	scripts/ci/fuzz-parsers $(TARGETS)

sanitize: ## The native library's tests and the Python package's under the address sanitizer, on Linux
	@scripts/ci/ensure-tools cargo cc python3
	scripts/ci/sanitize-native

wheel: ## The Python wheels, stripped, tried in fresh environments of every CPython that is found
	@scripts/ci/ensure-tools cargo cc python3 strip
	scripts/python/build-wheel
	scripts/python/build-sandbox-wheel
	scripts/python/build-server-wheel
	scripts/python/try-quick-start $${CARGO_TARGET_DIR:-target}/wheels

sdist: ## The Python source distribution, built and installed by pip
	@scripts/ci/ensure-tools cargo cc python3
	scripts/python/build-sdist

jar: ## The SDK's jar for Kotlin and Java, put into the local Maven repository; PACKAGES="kassa kassa-sandbox" for more
	@scripts/ci/ensure-tools cargo cc javac mvn strip
	scripts/kotlin/install-jars $(PACKAGES)

jars: ## The jars of all Kotlin packages as they are released, documentation included, tried as users do
	@scripts/ci/ensure-tools cargo cc javac mvn strip
	scripts/kotlin/build-jars

apk: ## The AARs, and of them a small Android app, shrunk by R8 and signed; without FOLDER=, which has phones' libraries, with a stand-in
	@scripts/ci/ensure-tools cargo cc javac mvn strip aapt2 zipalign apksigner
	scripts/kotlin/build-apk $(FOLDER)

bench: ## Kassa beside its peers, as ratios in one run; writes BENCHMARKS.md
	@scripts/ci/ensure-tools cargo cc python3 strip
	scripts/ci/run-benchmarks

bench-against: ## What became slower since an earlier commit: REV=HEAD~5 SUITES="rust_query python_blocking"
	@scripts/ci/ensure-tools git cargo cc python3 strip
	scripts/ci/bench-against $(REV) $(or $(SUITES),rust_query python_blocking python_asyncio)

release-check: packages ## All that can be tried of a release without sending anything; TARGETS=x86_64-unknown-linux-musl for one other system alone
	@scripts/ci/ensure-tools git cargo cc python3 javac mvn strip aapt2 go gpg rustup
	scripts/release/check $(TARGETS)

docs: ## The documentation site, with the references of all languages; KASSA_SITE_URL=https://... where it will be read elsewhere
	@scripts/ci/ensure-tools git cargo cc python3 javac mvn strip aapt2 chromium
	scripts/docs/build

pictures: ## The pictures of the product in the documentation, taken anew from the programs; look at them
	@scripts/ci/ensure-tools cargo cc python3 chromium
	env=$$(scripts/python/install-packages) && "$$env/bin/python" scripts/docs/take-pictures

lint: ## Format, clippy, documentation and the code in it, licences and banned or doubled crates; nothing left of a merge
	@scripts/ci/ensure-tools cargo cc git python3
	git grep --line-number --extended-regexp '^(<{7}|>{7}) '; test $$? -eq 1
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked -p kassa-sandbox -p kassa-server --lib --bins -- -D warnings # without what their tests turn on
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps --quiet
	scripts/ci/check-crates
	scripts/release/write-notices --check
	scripts/docs/write-code --check
