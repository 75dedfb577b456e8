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
