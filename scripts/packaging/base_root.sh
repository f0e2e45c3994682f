# shellcheck shell=bash
# A minimal Debian as a folder, from the mirror that this machine's own apt uses. Sourced by
# scripts/packaging/fresh_root; packages.sh comes first. Needs root.

BASE_CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/dashctl/base"

# debian_sources: prints the lines of a sources.list for the Debian archives of this machine, as it knows them.
debian_sources() {
    # shellcheck disable=SC2016  # the words in brackets are apt's
    apt-get indextargets --format '$(ORIGIN) deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(SITE) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' | sed -n 's/^Debian //p' | sort -u
}

# base_archive: prints the path of the archive of the base system, made when there is none; delete it to have the archive's newest.
base_archive() {
    local sources site archive="$BASE_CACHE/bookworm.tar" root
    if [ ! -e "$archive" ]; then
        sources="$(debian_sources)"
        site="$(sed -n 's/^deb [^ ]* \([^ ]*\) bookworm main$/\1/p' <<<"$sources" | head -n 1)"
        [ -n "$site" ] || die "apt knows no archive of Debian bookworm: run apt-get update"
        apt_install debootstrap
        mkdir -p "$BASE_CACHE"
        root="$(mktemp -d "$BASE_CACHE/root.XXXXXX")"
        chmod 755 "$root" # apt's own user enters it
        say "making a base system with debootstrap"
        debootstrap --variant=minbase bookworm "$root" "$site" >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; die "debootstrap failed"; }
        printf '%s\n' "$sources" >"$root/etc/apt/sources.list"
        in_root "$root" sh -c 'apt-get update -qq && apt-get upgrade -y -qq && apt-get clean' >>"$root.log" 2>&1 ||
            { tail -n 20 "$root.log" >&2; die "the base system could not be brought up to date"; }
        tar -C "$root" --numeric-owner -cf "$archive.new" .
        mv "$archive.new" "$archive"
        rm -rf "$root" "$root.log"
    fi
    echo "$archive"
}

# in_root ROOT COMMAND...: runs it in there; packages ask nothing and start nothing.
in_root() {
    local root="$1"
    shift
    [ -e "$root/usr/sbin/policy-rc.d" ] || printf '#!/bin/sh\nexit 101\n' | install -m 755 /dev/stdin "$root/usr/sbin/policy-rc.d"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    DEBIAN_FRONTEND="${DEBIAN_FRONTEND:-noninteractive}" LC_ALL=C chroot "$root" "$@"
}

# unpack_base ROOT
unpack_base() {
    local archive
    archive="$(base_archive)" || return 1
    mkdir -p "$1"
    tar -C "$1" --numeric-owner -xpf "$archive"
}
