#!/usr/bin/env bash
# Installs the programs of the start scripts, at tested versions.
#
#   install.sh [COMPONENT...]        no argument: what scripts/test needs
#     s3 minio azure gcs oci smb ssh docker postgres toxiproxy powershell promtool rpm browser
#     contract schemathesis and a generator of clients, which read the description of the API
#     peers    rclone, mc, aws, nginx, wrk   (what scripts/bench measures against and with)
#     clients  the Python SDKs that the proofs were made with
#
# Safe to run again and from several shells at once: what is there already is skipped. Programs go to DOUBLES_HOME
# (default: the cache folder of the home folder); Debian's packages and the two test accounts need root or sudo.
set -euo pipefail

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
. "$HERE/../packages.sh"

DOUBLES_HOME="${DOUBLES_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/dashctl/doubles}"
mkdir -p "$DOUBLES_HOME/bin" "$DOUBLES_HOME/stamps"
DOUBLES_HOME="$(cd "$DOUBLES_HOME" && pwd -P)"

# A stamp names the program and the version, so a new pin installs again.
stamped() { [ -e "$DOUBLES_HOME/stamps/$1" ]; }
stamp() { : >"$DOUBLES_HOME/stamps/$1"; }

go_program() {
    go_install "$DOUBLES_HOME/bin" "$@" || die "Go 1.21 or later is needed to build $1"
}

npm_install() {
    local name="$1" version="$2"
    stamped "npm-$name@$version" && [ -d "$DOUBLES_HOME/npm/node_modules/$name" ] && return 0
    say "npm: $name@$version"
    mkdir -p "$DOUBLES_HOME/npm"
    npm install --prefix "$DOUBLES_HOME/npm" --no-audit --no-fund --loglevel=error "$name@$version" >/dev/null
    stamp "npm-$name@$version"
}

pip_install() {
    local spec missing=()
    if [ ! -x "$DOUBLES_HOME/venv/bin/python" ]; then
        apt_install python3-venv
        /usr/bin/python3 -m venv "$DOUBLES_HOME/venv"
    fi
    for spec in "$@"; do
        stamped "pip-$spec" || missing+=("$spec")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    say "pip: ${missing[*]}"
    "$DOUBLES_HOME/venv/bin/pip" install -q --disable-pip-version-check "${missing[@]}"
    for spec in "${missing[@]}"; do stamp "pip-$spec"; done
}

account() {
    id -u "$1" >/dev/null 2>&1 && return 0
    say "account: $1"
    as_root useradd "${@:2}" "$1"
}

do_s3() { go_program versitygw github.com/versity/versitygw/cmd/versitygw v1.8.0; }
do_minio() { go_program minio github.com/minio/minio v0.0.0-20260212201848-7aac2a2c5b7c; }
do_azure() {
    command -v npm >/dev/null || apt_install nodejs npm
    npm_install azurite 3.35.0
}
do_gcs() { pip_install cryptography==50.0.2 google-crc32c==1.9.0; }
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
    # Another vendor's engine is as good, and Debian's conflicts with it.
    [ -x /usr/sbin/dockerd ] || [ -x /usr/bin/dockerd ] || apt_install docker.io runc containerd iptables
    command -v docker-compose >/dev/null || apt_install docker-compose
    command -v busybox >/dev/null || apt_install busybox-static
}
do_postgres() { apt_install postgresql-15 postgresql-client-15; }
do_toxiproxy() {
    go_program toxiproxy-server github.com/Shopify/toxiproxy/v2/cmd/server v2.5.0
    go_program toxiproxy-cli github.com/Shopify/toxiproxy/v2/cmd/cli v2.5.0
}
# Not a server either: promtool out of Debian's package, whose service nobody needs.
do_promtool() {
    local tmp
    [ -x "$DOUBLES_HOME/bin/promtool" ] && return
    say "promtool from Debian's prometheus"
    tmp="$(mktemp -d)"
    (cd "$tmp" && apt-get download -qq prometheus >/dev/null 2>&1) ||
        { as_root apt-get update -qq && (cd "$tmp" && apt-get download -qq prometheus >/dev/null); } ||
        die "Debian's package prometheus could not be fetched"
    dpkg-deb -x "$tmp"/prometheus_*.deb "$tmp/files"
    mv -f "$tmp/files/usr/bin/promtool" "$DOUBLES_HOME/bin/promtool"
    rm -rf "$tmp"
}
# Not a server: the parser of the PowerShell launcher.
do_powershell() { pip_install tree-sitter==0.26.1 tree-sitter-powershell==0.26.4; }
# Not a server: what makes and installs an .rpm. Tests that take minutes install it themselves.
do_rpm() { apt_install dnf python3-dnf rpm; }
# Not a server: Chromium, what drives it, and the checker of accessibility.
do_browser() {
    apt_install chromium fonts-dejavu-core
    pip_install playwright==1.65.2
    npm_install axe-core 4.14.1
}
# An environment of their own: their libraries are pinned by each other.
do_contract() {
    local stamp="contract-schemathesis==4.32.5-openapi-python-client==0.29.1"
    stamped "$stamp" && [ -x "$DOUBLES_HOME/contract/bin/schemathesis" ] && return 0
    apt_install python3-venv
    say "pip: schemathesis, openapi-python-client"
    /usr/bin/python3 -m venv --clear "$DOUBLES_HOME/contract"
    "$DOUBLES_HOME/contract/bin/pip" install -q --disable-pip-version-check schemathesis==4.32.5 openapi-python-client==0.29.1
    stamp "$stamp"
}
do_peers() {
    go_program rclone github.com/rclone/rclone v1.75.1
    go_program mc github.com/minio/mc v0.0.0-20250313080218-cf909e1063a9
    apt_install awscli time nginx-light wrk
}
do_clients() {
    pip_install boto3==1.44.5 azure-storage-blob==12.31.1 azure-identity==1.27.0 oci==2.189.0 \
        google-cloud-storage==3.17.1 paramiko==5.1.0 'psycopg[binary]==3.3.9'
}

[ "$#" -gt 0 ] || set -- s3 azure gcs oci smb ssh docker postgres toxiproxy powershell promtool browser contract
for component in "$@"; do
    declare -F "do_$component" >/dev/null || die "unknown component: $component"
done
exec 9>"$DOUBLES_HOME/lock"
flock 9
for component in "$@"; do
    "do_$component"
done
say "installed: $*"
