# A menu of one-line recipes. Nothing needs `just`: each line is the command itself.

# Show the recipes.
default:
    @just --list

# Three replicas on loopback, from examples/shop.
dev *args:
    cargo run --release -- dev {{args}}

# Every test.
test *args:
    cargo xtask test {{args}}

# What a commit must pass.
ci:
    .ci/run

# The rules of docs/architecture.md, with the distribution of sizes.
tidy:
    cargo test --package lockstep-tidy -- --nocapture

# Lints, as the gate runs them.
lint:
    cargo clippy --workspace --all-targets -- --deny warnings

# Format, and apply what the linter can repair.
fix:
    cargo fmt && cargo clippy --workspace --all-targets --fix --allow-dirty

# Write the generated protobuf code anew.
gen:
    cargo run --package lockstep-proto --example gen

# Build and start the real API server that tests run against.
kube *args:
    cargo xtask kube {{args}}

# The documentation of every crate.
doc:
    cargo doc --workspace --no-deps --open

# Borders, licences and sources of dependencies; needs cargo-deny.
deny:
    cargo deny --offline check bans licenses sources
