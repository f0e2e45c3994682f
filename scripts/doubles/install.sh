#!/usr/bin/env bash
# Installs the programs behind the start scripts, at the versions that were proved.
#
#   install.sh [COMPONENT...]        no argument: all but 'peers' and 'clients'
#     s3 minio azure gcs oci smb ssh docker postgres toxiproxy browser
#     peers    rclone, mc, aws        (what a storage client is measured against)
#     clients  the Python SDKs that the proofs were made with
#
# Safe to run again: what is there already is skipped. Programs go to DOUBLES_HOME
# (default: the cache folder of the home folder); Debian's packages and the two test
# accounts need root. Debian's packages are not pinned: only the newest of a release
# can be had; the versions seen are in the notes.
set -euo pipefail

DOUBLES_HOME="${DOUBLES_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/dashctl/doubles}"
mkdir -p "$DOUBLES_HOME/bin" "$DOUBLES_HOME/stamps"
DOUBLES_HOME="$(cd "$DOUBLES_HOME" && pwd -P)"
export DEBIAN_FRONTEND=noninteractive

log() { echo "install: $*"; }
die() { echo "install: $*" >&2; exit 1; }

apt_updated=
apt_install() {
    local p missing=()
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    [ "$(id -u)" = 0 ] || die "root is needed to install: ${missing[*]}"
    if [ -z "$apt_updated" ]; then
        apt-get update -qq
        apt_updated=1
    fi
    log "Debian: ${missing[*]}"
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# A stamp names the program and the version, so a new pin installs anew.
stamped() { [ -e "$DOUBLES_HOME/stamps/$1" ]; }
stamp() { : >"$DOUBLES_HOME/stamps/$1"; }

# go_install NAME PACKAGE VERSION: the binary lands as NAME.
go_install() {
    local name="$1" package="$2" version="$3" tmp built
    stamped "$name@$version" && [ -x "$DOUBLES_HOME/bin/$name" ] && return 0
    log "Go: $package@$version"
    tmp="$(mktemp -d "$DOUBLES_HOME/go-XXXXXX")"
    GOBIN="$tmp" GOFLAGS=-buildvcs=false nice -n 10 go install "$package@$version" ||
        { rm -rf "$tmp"; die "$package@$version did not install"; }
    built="$(ls "$tmp")"
    mv -f "$tmp/$built" "$DOUBLES_HOME/bin/$name"
    rmdir "$tmp"
    stamp "$name@$version"
}

npm_install() {
    local name="$1" version="$2"
    stamped "npm-$name@$version" && [ -d "$DOUBLES_HOME/npm/node_modules/$name" ] && return 0
    log "npm: $name@$version"
    mkdir -p "$DOUBLES_HOME/npm"
    npm install --prefix "$DOUBLES_HOME/npm" --no-audit --no-fund --loglevel=error "$name@$version" >/dev/null
    stamp "npm-$name@$version"
}

pip_install() {
    local spec missing=()
    [ -x "$DOUBLES_HOME/venv/bin/python" ] || python3 -m venv "$DOUBLES_HOME/venv"
    for spec in "$@"; do
        stamped "pip-$spec" || missing+=("$spec")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    log "pip: ${missing[*]}"
    "$DOUBLES_HOME/venv/bin/pip" install -q --disable-pip-version-check "${missing[@]}"
    for spec in "${missing[@]}"; do stamp "pip-$spec"; done
}

account() {
    id -u "$1" >/dev/null 2>&1 && return 0
    [ "$(id -u)" = 0 ] || die "root is needed to make the account $1"
    log "account: $1"
    useradd "$@"
}

do_s3() { go_install versitygw github.com/versity/versitygw/cmd/versitygw v1.8.0; }
do_minio() { go_install minio github.com/minio/minio v0.0.0-20260212201848-7aac2a2c5b7c; }
do_azure() { npm_install azurite 3.35.0; }
do_gcs() {
    pip_install cryptography==50.0.2 google-crc32c==1.9.0
}
do_oci() { pip_install cryptography==50.0.2; }
do_smb() {
    apt_install samba smbclient
    account doublesmb --system --no-create-home --shell /usr/sbin/nologin
}
do_ssh() {
    apt_install openssh-server openssh-client
    account doublessh --create-home --shell /bin/bash
}
do_docker() {
    local b
    # An engine's client may be there already without the engine.
    apt_install docker.io runc containerd busybox-static iptables
    for b in dockerd docker busybox; do
        command -v "$b" >/dev/null || [ -x "/usr/sbin/$b" ] || die "$b is still missing"
    done
}
do_postgres() { apt_install postgresql-15 postgresql-client-15; }
do_toxiproxy() {
    go_install toxiproxy-server github.com/Shopify/toxiproxy/v2/cmd/server v2.5.0
    go_install toxiproxy-cli github.com/Shopify/toxiproxy/v2/cmd/cli v2.5.0
}
do_browser() {
    apt_install chromium chromium-driver fonts-dejavu-core
    npm_install playwright-core 1.65.1
}
do_peers() {
    go_install rclone github.com/rclone/rclone v1.75.1
    go_install mc github.com/minio/mc v0.0.0-20250313080218-cf909e1063a9
    apt_install awscli time
}
do_clients() {
    pip_install boto3==1.44.5 azure-storage-blob==12.31.1 azure-identity==1.27.0 oci==2.189.0 \
        google-cloud-storage==3.17.1 paramiko==5.1.0 'psycopg[binary]==3.3.9'
}

[ "$#" -gt 0 ] || set -- s3 minio azure gcs oci smb ssh docker postgres toxiproxy browser
for component in "$@"; do
    declare -F "do_$component" >/dev/null || die "unknown component: $component"
done
for component in "$@"; do
    "do_$component"
done
log "done: $*"
