"""Compose deploys to a host's account: what is deployed, and a plugin of the docker client that only notes its call, a double."""
import contextlib
import os
import shutil
from pathlib import Path

COMPOSE = "services:\n  web:\n    image: '{{ not_a_template }}'\n"
PLUGIN = """#!/bin/sh
if [ "$1" = docker-cli-plugin-metadata ]; then
    echo '{"SchemaVersion": "0.1.0", "Vendor": "test", "Version": "1"}'
    exit
fi
echo "$PWD $*" > "$HOME/compose-calls"
test "$3" != broken || { echo no such image >&2; exit 7; }
"""


@contextlib.contextmanager
def compose_plugin(account):
    """The home folder of an account, in which the plugin lies."""
    home = Path(os.path.expanduser("~" + account))
    plugin = home / ".docker/cli-plugins/docker-compose"
    plugin.parent.mkdir(parents=True, exist_ok=True)
    plugin.write_text(PLUGIN, encoding="utf-8")
    plugin.chmod(0o755)
    try:
        yield home
    finally:
        for path in (plugin.parent, home / ".dashctl/compose"):
            shutil.rmtree(path, ignore_errors=True)
        (home / "compose-calls").unlink(missing_ok=True)


def compose_calls(home):
    return (home / "compose-calls").read_text(encoding="utf-8").split()


def compose_up(project):
    """The words behind the folder in which the client is called."""
    return ["compose", "--project-name", project, "--file", "compose.yml", "up", "--detach"]
