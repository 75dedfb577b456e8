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
