#!/bin/sh
# `dashctl migrate` with the same arguments. Stays in the caller's folder, so that relative paths keep their meaning,
# and ends with dashctl's exit code. DASHCTL names the binary; else the one beside this file, of this checkout or on
# the PATH is taken.
#
#   --encoded X...   as the first argument: the rest are base64, each behind an 'x'. So dashctl-migrate.ps1 hands them
#                    over unharmed by any quoting on the way.
set -eu
here=$(dirname -- "$(readlink -f -- "$0")")

if [ "${1-}" = --encoded ]; then
    shift
    left=$#
    while [ "$left" -gt 0 ]; do
        # The point protects newlines at the end, which $() would drop.
        argument=$(printf %s "${1#x}" | base64 -d && printf .)
        shift
        set -- "$@" "${argument%.}"
        left=$((left - 1))
    done
fi

if [ -n "${DASHCTL-}" ] && ! [ -x "$DASHCTL" ]; then
    echo "dashctl-migrate: DASHCTL names $DASHCTL, which is no program" >&2
    exit 1
fi
for dashctl in "${DASHCTL:-$here/dashctl}" "$here/../build/release/dashctl" "$(command -v dashctl || :)"; do
    if [ -x "$dashctl" ]; then
        exec "$dashctl" migrate "$@"
    fi
done
echo "dashctl-migrate: no dashctl binary: put it on the PATH, or name it in DASHCTL" >&2
exit 1
