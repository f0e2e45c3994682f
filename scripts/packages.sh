# shellcheck shell=bash
# Installing what is missing: Debian packages, and programs that Go builds. Sourced by scripts/setup and
# scripts/doubles/install.sh; runs nothing by itself. Nothing that is there is ever upgraded.

say() { echo "setup: $*" >&2; }
die() { echo "setup: $*" >&2; exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "root or sudo is needed to run: $*"
    fi
}

# missing PACKAGE...: prints those that are not installed.
missing() {
    comm -23 <(printf '%s\n' "$@" | sort) \
        <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p' | sort)
}

# apt_install PACKAGE...: those that are missing; the package lists are fetched only when one is.
apt_fetched=
apt_install() {
    local packages
    mapfile -t packages < <(missing "$@")
    [ "${#packages[@]}" -gt 0 ] || return 0
    if [ -z "$apt_fetched" ]; then
        say "fetching Debian's package lists"
        as_root apt-get update -qq
        apt_fetched=1
    fi
    say "installing from Debian: ${packages[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq \
        --no-install-recommends --no-upgrade "${packages[@]}" >/dev/null ||
        die "apt-get could not install: ${packages[*]}"
}

# find_go: prints a Go that can fetch the tool chain a module asks for (1.21 or later), installing the one of
# Debian's backports where those are enabled. Fails when there is none.
find_go() {
    local go package
    for go in "$(command -v go)" /usr/local/go/bin/go /usr/lib/go-*/bin/go; do
        [ -x "$go" ] && "$go" version | awk '{ split(substr($3, 3), v, "."); exit !(v[1] > 1 || v[2] >= 21) }' &&
            { echo "$go"; return; }
    done
    package="$(apt-cache search --names-only '^golang-1\.2[1-9]-go$' 2>/dev/null | cut -d' ' -f1 | sort -V | tail -n 1)"
    [ -n "$package" ] || return 1
    apt_install "$package"
    package="${package#golang-}"
    echo "/usr/lib/go-${package%-go}/bin/go"
}

# go_install DIR NAME PACKAGE VERSION: builds PACKAGE@VERSION as DIR/NAME unless that is there.
go_install() {
    local dir="$1" name="$2" package="$3" version="$4" go tmp
    [ -x "$dir/$name" ] && [ -e "$dir/.$name@$version" ] && return
    go="$(find_go)" || return 1
    say "building $package@$version with Go"
    mkdir -p "$dir"
    tmp="$(mktemp -d "$dir/.go-XXXXXX")"
    if ! GOBIN="$tmp" GOFLAGS=-buildvcs=false nice -n 10 "$go" install "$package@$version" >&2; then
        rm -rf "$tmp"
        die "$package@$version could not be built"
    fi
    mv -f "$tmp"/* "$dir/$name"
    rmdir "$tmp"
    : >"$dir/.$name@$version"
}
