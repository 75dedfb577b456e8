# shellcheck shell=bash
# Shared by the scripts beside it: sourced, not run.

# Messages go to stderr: stdout belongs to the command a script wraps.
say() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
}

fail() {
    say "$*"
    exit 1
}

can_apt_install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

# Installs Debian packages; fails where this machine or account does not allow that.
apt_install() {
    can_apt_install || return 1
    say "installing $*"
    # The timeout waits for another apt to let go of its lock.
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 update </dev/null >&2 &&
        DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
            install -y --no-install-recommends "$@" </dev/null >&2
}

# need PROGRAM PACKAGE: installs Debian's package where there is no such program.
need() {
    command -v "$1" >/dev/null || apt_install "$2" || fail "found no $1. Install it (Debian: apt-get install $2)."
}

# python_environment DIRECTORY PACKAGE...: a virtual environment with exactly these packages, made anew for others.
python_environment() {
    local directory=$1 stamp=$1/packages
    shift
    if [ "$(cat "$stamp" 2>/dev/null)" = "$*" ]; then
        return
    fi
    # Debian ships Python without the module that puts pip into a virtual environment.
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        apt_install python3-venv || fail "python3 cannot make virtual environments. Install that" \
            "(Debian: apt-get install python3-venv)."
    fi
    python3 -m venv --clear "$directory"
    "$directory/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    echo "$*" >"$stamp"
}

# The libraries that are published, each after those that it needs.
# shellcheck disable=SC2034 # for the scripts that source this
libraries=(iam-core iam-store-postgres iam-store-sqlite iam-axum)

# The oldest Rust that builds the crates.
oldest_rust() {
    sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml
}

is_oldest_rust() {
    [[ $(rustc --version) == "rustc $(oldest_rust)."* ]]
}

# Has cargo be that of the oldest Rust, by rustup where it is another.
use_oldest_rust() {
    is_oldest_rust && return
    local version
    version=$(oldest_rust)
    command -v rustup >/dev/null || fail "found $(rustc --version) and no rustup. Install Rust $version."
    rustup run "$version" rustc --version >/dev/null 2>&1 ||
        rustup toolchain install --profile minimal "$version" >&2
    export RUSTUP_TOOLCHAIN=$version
}

# cargo_tool NAME VERSION: has `cargo NAME` be this version, and installs it into target/tools where it is not. A new release
# of a tool must not turn an unchanged checkout red.
cargo_tool() {
    PATH=$PWD/target/tools/bin:$PATH
    [ "$(cargo "$1" --version 2>/dev/null)" = "cargo-$1 $2" ] ||
        cargo install --locked --root target/tools --version "$2" "cargo-$1"
}

# Makes the directory $directory, which goes with the script, as does the server that start_server starts.
use_temporary_directory() {
    directory=$(mktemp -d)
    server=
    trap remove_temporary_directory EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# shellcheck disable=SC2317 # called by the trap
remove_temporary_directory() {
    local status=$?
    trap '' HUP INT TERM
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$directory"
    exit "$status"
}

# start_server COMMAND...: starts what logs "listening on http:…" to its error output, and sets $url to that address.
start_server() {
    local log=$directory/server.log _
    "$@" 2>"$log" &
    server=$!
    for _ in {1..300}; do
        url=$(sed -n '/listening on http:/{s/.*listening on \(http:[^ ]*\).*/\1/p;q}' "$log")
        [ -z "$url" ] || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    cat "$log" >&2
    fail "the server did not start"
}

# Builds what is measured and becomes the program that does so: run_load PREFIX FSYNC [sqlite|postgres] [OPTION...]
#
# The prefix is that of its command; without a database it is SQLite. What is measured in earnest is a release build.
run_load() {
    local prefix=$1 fsync=$2 database=sqlite with=() profile=release directory=release
    shift 2
    case ${1:-} in
    sqlite) shift ;;
    postgres)
        shift
        database=postgres
        with=(env IAM_TEST_POSTGRES_FSYNC="$fsync" scripts/with-postgres)
        ;;
    '' | --*) ;;
    *) fail "usage: scripts/${0##*/} [sqlite|postgres] [OPTION...]" ;;
    esac
    case " $* " in
    *' --quick '*) profile=dev directory=debug ;;
    esac
    cargo build --profile "$profile" --package iam-server --package iam-benches --bins
    exec ${with[@]+"${with[@]}"} "${CARGO_TARGET_DIR:-target}/$directory/load" "$prefix$database" "$@"
}
