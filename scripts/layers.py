"""Prints every include that goes against the architecture: rooms upwards, doors into each other, a library's header
outside of the one file that hides it. Run by scripts/check from the root of the project."""
import re
import subprocess

# Lower rooms first: a room of core includes itself and those before it.
ROOMS = ["base", "crypto", "net", "db", "config", "identity", "audit", "policy", "jobs", "storage", "setup", "migrate", "app"]

# header of a library: the files that may include it
HOMES = {
    r"boost/": r"daemon/(server|parser|stream|tls)\.[ch]pp",
    r"curl/": r"core/net/curl\.cpp",
    r"libpq-fe\.h": r"core/db/postgres\.cpp",
    r"sqlite3\.h": r"core/db/sqlite\.cpp",
    r"libssh2": r"core/net/ssh\.cpp",
    r"libsmbclient": r"core/storage/smb/\w+\.cpp",
    r"pugixml\.hpp": r"core/storage/xml\.cpp",
    r"yaml-cpp/": r"core/config/registry\.cpp",
    r"re2/": r"core/storage/secret_scan\.cpp",
    r"absl/": r"core/jobs/\w*zone\w*\.cpp",
    r"openssl/": r"core/crypto/\w+\.cpp|core/net/curl\.cpp",
    r"CLI/": r"cmd/\w+\.[ch]pp",
}


def against_layers(path, target):
    door, room = path.split("/")[:2]
    into, inside = target.split("/")[:2]
    if door == "core":
        return into != "core" or ROOMS.index(inside) > ROOMS.index(room)
    if door == "daemon":
        return into == "cmd"
    return into == "daemon" and path != "cmd/serve.cpp"


def outside_home(path, header):
    return any(re.match(library, header) and not re.fullmatch(home, path) for library, home in HOMES.items())


def main():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "core", "cmd", "daemon"],
                            capture_output=True, text=True, check=True).stdout.splitlines()
    for path in listed:
        if not path.endswith((".cpp", ".hpp")):
            continue
        with open(path, encoding="utf-8") as source:
            for number, line in enumerate(source, 1):
                found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)', line)
                if not found:
                    continue
                header = found[1]
                if re.match(r"(core|cmd|daemon)/", header) and against_layers(path, header):
                    print(f"{path}:{number}: {header}: against the layers")
                if outside_home(path, header):
                    print(f"{path}:{number}: {header}: outside of the file that hides this library")


main()
