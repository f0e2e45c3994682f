#!/usr/bin/env bash
# Azurite (blob service) over https on 127.0.0.1 for a service principal, with a token endpoint of its own
# (azure_tokens.py). Azurite checks the claims of a token, not its signature.
set -u
NAME=azure_oauth
DEFAULT_PORT=10010
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
. "$HERE/lib.sh"

ACCOUNT=oauthacct
TENANT=11111111-2222-3333-4444-555555555555
CLIENT_ID=66666666-7777-8888-9999-000000000000
CLIENT_SECRET='test-secret-of-the-azure-double~1'

do_start() {
    local port="$1" azurite="$DOUBLES_HOME/npm/node_modules/.bin/azurite-blob" ports="$WORK/azure_oauth-token-port"
    refuse_if_taken "$port"
    [ -x "$azurite" ] || die "azurite is not installed: run install.sh azure"
    mkdir -p "$WORK/azure_oauth-data"
    rm -f "$ports"
    make_tls "$WORK/tls"
    AZURITE_ACCOUNTS="$ACCOUNT:$(printf 'nobody-signs-with-this-key-00000' | base64 -w0)" \
        launch python3 -B "$HERE/azure_tokens.py" --tenant "$TENANT" --client-id "$CLIENT_ID" \
        --client-secret "$CLIENT_SECRET" --port-file "$ports" -- \
        "$azurite" --blobHost 127.0.0.1 --blobPort "$port" --location "$WORK/azure_oauth-data" --silent \
        --skipApiVersionCheck --disableTelemetry --disableProductStyleUrl \
        --oauth basic --cert "$WORK/tls/cert.pem" --key "$WORK/tls/key.pem"
    wait_for 30 port_open "$port"
    publish_env <<EOF
AZURE_OAUTH_ACCOUNT=$ACCOUNT
AZURE_OAUTH_ENDPOINT=https://127.0.0.1:$port
AZURE_OAUTH_AUTHORITY=http://127.0.0.1:$(cat "$ports")
AZURE_OAUTH_TENANT=$TENANT
AZURE_OAUTH_CLIENT_ID=$CLIENT_ID
AZURE_OAUTH_CLIENT_SECRET=$CLIENT_SECRET
AZURE_OAUTH_CA_BUNDLE=$WORK/tls/ca.pem
EOF
}

main_dispatch "$@"
