# shellcheck shell=bash
# Shared helpers of the start scripts. Source it; it runs nothing by itself.
#
# Every script:   NAME.sh start WORKDIR [PORT]     starts in the background, waits
#                                                  until it answers, prints 'export K=V'
#                 NAME.sh stop  WORKDIR            stops what WORKDIR/NAME.pid names
#                 NAME.sh env   WORKDIR            prints the same exports again
# PORT 0 is any free port.
# Servers listen on 127.0.0.1 alone. Everything written is under WORKDIR.
# DOUBLES_HOME is where install.sh put the programs (same default there).

DOUBLES_HOME="${DOUBLES_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/dashctl/doubles}"
DOUBLES_BIN="$DOUBLES_HOME/bin"
# shellcheck disable=SC2034  # read by the scripts that source this
DOUBLES_PY="$DOUBLES_HOME/venv/bin/python"
# smbd, sshd, dockerd and runc are in sbin, which a plain user's PATH may lack.
PATH="$DOUBLES_BIN:$PATH:/usr/local/sbin:/usr/sbin:/sbin"

die() { echo "$NAME: $*" >&2; exit 1; }

usage() { die "usage: $NAME.sh start WORKDIR [PORT] | stop WORKDIR | env WORKDIR"; }

need() { command -v "$1" >/dev/null 2>&1 || die "$1 is not installed: run install.sh${2:+ $2}"; }

# Absolute, existing work dir in $WORK, from the second argument.
take_workdir() {
    [ -n "${1:-}" ] || usage
    mkdir -p "$1" || die "cannot make $1"
    WORK="$(cd "$1" && pwd -P)"
    PIDFILE="$WORK/$NAME.pid"
    LOGFILE="$WORK/$NAME.log"
    ENVFILE="$WORK/$NAME.env"
}

# A pid alone can be reused by another process, so the start time goes with it.
# Nothing for a process that ended and was not yet reaped.
proc_start() {
    sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" { print $20 }'
}

running() {
    local pid start
    [ -f "$PIDFILE" ] || return 1
    read -r pid start <"$PIDFILE" || return 1
    [ -n "$pid" ] && [ -n "$start" ] && [ "$(proc_start "$pid")" = "$start" ]
}

port_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

free_port() {
    /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

refuse_if_taken() { ! port_open "$1" || die "port $1 is already in use"; }

# launch CMD...: background, own session, output to the log, pid file written.
launch() {
    setsid "$@" </dev/null >>"$LOGFILE" 2>&1 &
    local pid=$!
    echo "$pid $(proc_start "$pid")" >"$PIDFILE"
}

# wait_for SECONDS CMD...: until CMD succeeds, giving up when the process dies.
wait_for() {
    local end=$((SECONDS + $1)); shift
    until "$@" >/dev/null 2>&1; do
        running || { tail -n 20 "$LOGFILE" >&2; rm -f "$PIDFILE"; die "it ended while starting"; }
        [ "$SECONDS" -lt "$end" ] || { tail -n 20 "$LOGFILE" >&2; stop_pid; die "it did not answer in time"; }
        sleep 0.1
    done
}

stop_pid() {
    local pid start _
    if running; then
        read -r pid start <"$PIDFILE"
        kill "$pid" 2>/dev/null
        for _ in {1..100}; do
            [ "$(proc_start "$pid")" = "$start" ] || break
            sleep 0.1
        done
        [ "$(proc_start "$pid")" != "$start" ] || kill -9 "$pid" 2>/dev/null
    fi
    rm -f "$PIDFILE"
}

# Reads 'K=V' lines on stdin, keeps them as exports, prints them.
publish_env() {
    local line
    : >"$ENVFILE"
    while IFS= read -r line; do
        [ -n "$line" ] && printf 'export %s=%q\n' "${line%%=*}" "${line#*=}" >>"$ENVFILE"
    done
    cat "$ENVFILE"
}

# main_dispatch "$@": calls do_start / do_stop of the script.
main_dispatch() {
    local verb="${1:-}" port="${3:-$DEFAULT_PORT}"
    take_workdir "${2:-}"
    case "$verb" in
        start)
            if running; then
                echo "$NAME: already running in this work dir" >&2
                cat "$ENVFILE"
                return 0
            fi
            [ "$port" != 0 ] || port="$(free_port)"
            do_start "$port"
            ;;
        stop) do_stop ;;
        env) cat "$ENVFILE" ;;
        *) usage ;;
    esac
}

do_stop() { stop_pid; }

# make_tls DIR: a CA and a server certificate for 127.0.0.1 and localhost, made once.
# DIR/ca.pem is what a client must trust; DIR/cert.pem and DIR/key.pem are the server's.
make_tls() {
    local d="$1"
    [ ! -s "$d/cert.pem" ] || return 0
    mkdir -p "$d"
    openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=test doubles CA" \
        -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign \
        -keyout "$d/ca-key.pem" -out "$d/ca.pem" 2>/dev/null || die "openssl failed"
    openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" \
        -keyout "$d/key.pem" -out "$d/req.pem" 2>/dev/null || die "openssl failed"
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n' >"$d/ext"
    openssl x509 -req -in "$d/req.pem" -CA "$d/ca.pem" -CAkey "$d/ca-key.pem" -CAcreateserial \
        -days 3650 -extfile "$d/ext" -out "$d/cert.pem.new" 2>/dev/null || die "openssl failed"
    mv "$d/cert.pem.new" "$d/cert.pem"
}
