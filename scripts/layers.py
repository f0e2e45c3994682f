"""Prints every include that goes against the architecture: upwards between modules or their parts, from core into
cmd or daemon, a library's header outside of the one file that hides it. Run by scripts/check from the root.

    scripts/layers.py           the violations, one a line; nothing when there are none
    scripts/layers.py --graph   each part and those that it includes
"""
import re
import subprocess
import sys

# Lower parts first: a part includes itself and those before it. The first pattern that matches a path names its part.
PARTS = [
    ("base", r"core/base/"),
    ("crypto", r"core/crypto/"),
    ("net/http", r"core/net/http/"),
    ("net/process", r"core/net/process/"),
    ("net/ssh", r"core/net/ssh/"),
    ("db", r"core/db/"),
    ("config", r"core/config/"),
    ("audit", r"core/audit/"),
    ("identity", r"core/identity/"),
    ("policy", r"core/policy/[^/]+$"),
    ("policy/opa", r"core/policy/opa/"),
    ("policy/tools", r"core/policy/tools/"),
    ("windows", r"core/windows/"),
    ("jobs", r"core/jobs/"),
    ("storage/store", r"core/storage/store/(?!registry\.)[^/]+$"),
    ("storage/store/s3", r"core/storage/store/s3/"),
    ("storage/store/azure_blob", r"core/storage/store/azure_blob/"),
    ("storage/store/gcs", r"core/storage/store/gcs/"),
    ("storage/store/oci", r"core/storage/store/oci/"),
    ("storage/store/agent", r"core/storage/store/agent/"),
    ("storage/store/local", r"core/storage/store/local/"),
    ("storage/store/smb", r"core/storage/store/smb/"),
    ("storage/store registry", r"core/storage/store/registry\."),
    ("storage/settings", r"core/storage/settings/"),
    ("storage/assets", r"core/storage/assets/"),
    ("storage/upload", r"core/storage/upload/"),
    ("storage", r"core/storage/[^/]+$"),
    ("agent/protocol", r"core/agent/protocol/"),
    ("agent/dashboard", r"core/agent/dashboard/"),
    ("agent", r"core/agent/[^/]+$"),
    ("automation", r"core/automation/"),
    ("agent/remote", r"core/agent/remote/"),
    ("deploy", r"core/deploy/"),
    ("images", r"core/images/"),
    ("setup", r"core/setup/"),
    ("client", r"core/client/"),
    ("migrate/bundle", r"core/migrate/bundle/"),
    ("migrate", r"core/migrate/"),
    ("app", r"core/app/"),
    ("daemon/http", r"daemon/http/"),
    ("daemon/server", r"daemon/server/"),
    ("daemon/routes", r"daemon/routes/"),
    ("cmd/cli", r"cmd/cli/(?!run\.)"),
    ("cmd", r"cmd/(?!cli/)"),
    ("cmd/cli run", r"cmd/cli/run\."),
]
NAMES = [name for name, _ in PARTS]

# Parts of one level: none includes another, whatever their order above. SMB is a file tree of the local store.
APART = {"s3", "azure_blob", "gcs", "oci", "agent", "local"}

# header of a library: the files that may include it
HOMES = {
    r"boost/": r"daemon/(http/parser|server/(server|stream|tls))\.[ch]pp|core/net/http/loopback_server\.cpp",
    r"curl/": r"core/net/http/curl\.cpp",
    r"libpq-fe\.h": r"core/db/postgres_connection\.cpp",
    r"sqlite3\.h": r"core/db/(sqlite|wal_index)\.cpp",
    r"libssh2": r"core/net/ssh/ssh_(state|login|command)\.[ch]pp",
    r"libsmbclient": r"core/storage/store/smb/\w+\.cpp",
    r"pugixml\.hpp": r"core/storage/store/xml\.cpp",
    r"yaml-cpp/": r"core/(base/yaml|config/registry|agent/remote/yaml_file|automation/yaml_tree)\.cpp",
    r"valijson/": r"daemon/routes/contract\.cpp",
    r"prometheus/": r"core/base/metrics\.cpp",
    r"re2/": r"core/storage/assets/secret_scan\.cpp",
    r"absl/": r"core/windows/zone\.cpp",
    r"openssl/": r"core/crypto/\w+\.cpp|core/net/http/curl\.cpp",
    r"CLI/": r"cmd/cli/\w+\.[ch]pp",
}


def part_of(path):
    for name, pattern in PARTS:
        if re.match(pattern, path):
            return name
    return None


def against_layers(path, target):
    source, into = part_of(path), part_of(target)
    if source is None or into is None:
        return "belongs to no part (see PARTS)"
    if target.startswith("daemon/") and path.startswith("cmd/"):
        return None if path == "cmd/serve.cpp" else "only cmd/serve.cpp sees the daemon"
    if NAMES.index(into) > NAMES.index(source):
        return f"{source} stands below {into}"
    siblings = [name.removeprefix("storage/store/") for name in (source, into)]
    if source != into and APART.issuperset(siblings):
        return f"{source} and {into} stand apart"
    return None


def includes():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "core", "cmd", "daemon"],
                            capture_output=True, text=True, check=True).stdout.splitlines()
    for path in listed:
        if not path.endswith((".cpp", ".hpp")):
            continue
        try:
            source = open(path, encoding="utf-8")
        except FileNotFoundError:  # deleted, and not yet committed
            continue
        with source:
            for number, line in enumerate(source, 1):
                found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)', line)
                if found:
                    yield path, number, found[1]


def is_ours(header):
    return re.match(r"(core|cmd|daemon)/", header)


def print_violations():
    for path, number, header in includes():
        why = against_layers(path, header) if is_ours(header) else None
        if why:
            print(f"{path}:{number}: {header}: {why}")
        for library, home in HOMES.items():
            if re.match(library, header) and not re.fullmatch(home, path):
                print(f"{path}:{number}: {header}: outside of the file that hides this library")


def print_graph():
    arrows = {name: set() for name in NAMES}
    for path, _, header in includes():
        if is_ours(header):
            arrows[part_of(path)].add(part_of(header))
    for name in reversed(NAMES):
        below = sorted(arrows[name] - {name}, key=NAMES.index)
        print(f"{name:24} → {', '.join(below) or 'nothing'}")


if sys.argv[1:] == ["--graph"]:
    print_graph()
else:
    print_violations()
