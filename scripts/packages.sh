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

# The Go for machines without one, as Go itself fetches tool chains: a module of its proxy. Debian's is too old.
GO_VERSION=go1.26.8
GO_SHA256=30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7
GO_DIR="${XDG_CACHE_HOME:-$HOME/.cache}/dashctl/$GO_VERSION"

fetch_go() {
    local tmp url="https://proxy.golang.org/golang.org/toolchain/@v/v0.0.1-$GO_VERSION.linux-amd64.zip"
    [ "$(uname -m)" = x86_64 ] || return 1
    say "fetching $GO_VERSION"
    apt_install ca-certificates curl unzip
    mkdir -p "${GO_DIR%/*}"
    tmp="$(mktemp -d "$GO_DIR-XXXXXX")"
    if curl -fsSL -o "$tmp/go.zip" "$url" >&2 &&
        echo "$GO_SHA256  $tmp/go.zip" | sha256sum --check --quiet >&2 &&
        unzip -q "$tmp/go.zip" -d "$tmp"; then
        chmod -R u+x "$tmp"/golang.org/toolchain@*/bin "$tmp"/golang.org/toolchain@*/pkg/tool
        mv -T "$tmp"/golang.org/toolchain@* "$GO_DIR"
    fi
    rm -rf "$tmp"
    [ -x "$GO_DIR/bin/go" ]
}

# find_go: prints a Go that can fetch the tool chain a module asks for (1.21 or later), fetching one when none is there.
find_go() {
    local go
    for go in "$(command -v go)" /usr/local/go/bin/go /usr/lib/go-*/bin/go "$GO_DIR/bin/go"; do
        [ -x "$go" ] && "$go" version | awk '{ split(substr($3, 3), v, "."); exit !(v[1] > 1 || v[2] >= 21) }' &&
            { echo "$go"; return; }
    done
    fetch_go && echo "$GO_DIR/bin/go"
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
