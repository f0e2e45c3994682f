#!/usr/bin/env bash
# Google Cloud Storage's JSON API on 127.0.0.1, by gcs_store.py: it checks tokens, has the token
# endpoint, and resumes and cancels uploads as the service does.
#   GCS_TLS=1                  https
#   GCS_TOKEN_TTL=SECONDS      how long a token is valid
set -u
NAME=gcs
DEFAULT_PORT=4443
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
. "$HERE/lib.sh"

GCS_TLS="${GCS_TLS:-}"
CLIENT_EMAIL="tester@test-project.iam.gserviceaccount.com"

do_start() {
    local port="$1" scheme=http tls=()
    refuse_if_taken "$port"
    [ -x "$DOUBLES_PY" ] || die "no Python environment: run install.sh gcs"
    mkdir -p "$WORK/gcs"
    if [ ! -s "$WORK/gcs/key.pem" ]; then
        (umask 077; openssl genrsa -out "$WORK/gcs/key.pem" 2048 2>/dev/null) || die "openssl failed"
    fi
    openssl rsa -in "$WORK/gcs/key.pem" -pubout -out "$WORK/gcs/pub.pem" 2>/dev/null || die "openssl failed"
    if [ -n "$GCS_TLS" ]; then
        scheme=https
        make_tls "$WORK/tls"
        tls=(--cert "$WORK/tls/cert.pem" --key "$WORK/tls/key.pem")
    fi
    (umask 077; "$DOUBLES_PY" -B - "$WORK/gcs/key.pem" "$CLIENT_EMAIL" "$scheme://127.0.0.1:$port/token" \
        >"$WORK/gcs/service-account.json" <<'PY'
import json, sys
print(json.dumps({"type": "service_account", "project_id": "test-project", "private_key_id": "double",
                  "private_key": open(sys.argv[1]).read(), "client_email": sys.argv[2],
                  "client_id": "1", "token_uri": sys.argv[3]}, indent=1))
PY
    ) || die "the service account's file could not be written"
    launch "$DOUBLES_PY" -B "$HERE/gcs_store.py" --dir "$WORK/gcs/data" --port "$port" \
        --public-key "$WORK/gcs/pub.pem" --client-email "$CLIENT_EMAIL" \
        --token-ttl "${GCS_TOKEN_TTL:-3600}" "${tls[@]}"
    wait_for 20 port_open "$port"
    publish_env <<EOF
GCS_ENDPOINT=$scheme://127.0.0.1:$port
GCS_TOKEN_URI=$scheme://127.0.0.1:$port/token
GOOGLE_APPLICATION_CREDENTIALS=$WORK/gcs/service-account.json
GOOGLE_CLOUD_PROJECT=test-project
${GCS_TLS:+GCS_CA_BUNDLE=$WORK/tls/ca.pem}
EOF
}

main_dispatch "$@"
