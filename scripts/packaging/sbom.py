"""The SBOM (CycloneDX 1.4, JSON) of a built binary, on stdout: the packages of Debian whose libraries it loads, and those
whose headers were compiled in. Ends with 1 when one of them is not in licences.txt as it is.

    python3 sbom.py BINARY BUILD_FOLDER VERSION SECONDS_SINCE_1970
"""
import datetime
import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

LICENCES = Path(__file__).with_name("licences.txt")
INFO = Path("/var/lib/dpkg/info")


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def libraries(binary):
    return set(re.findall(r"(/\S+) \(0x", output("ldd", binary)))


def headers(build):
    """Of the system, read by what the binary is made of: all objects but those of the tests."""
    found, is_ours = set(), False
    for line in output("ninja", "-C", build, "-t", "deps").splitlines():
        if line and not line.startswith(" "):
            is_ours = not line.startswith("tests/")
        elif is_ours and line.startswith("    /usr/"):
            found.add(line.strip())
    return found


def owners():
    """Which package each file of the system belongs to."""
    found = {}
    for listing in INFO.glob("*.list"):
        name = listing.stem.split(":")[0]
        for path in listing.read_text(errors="replace").splitlines():
            found.setdefault(path, name)
    return found


def owner(path, known):
    """Of a path as the loader names it: through the links of a merged /usr and of versions."""
    for spelling in (path, os.path.realpath(path)):
        for place in (spelling, spelling.removeprefix("/usr"), "/usr" + spelling):
            if place in known:
                return known[place]
    raise SystemExit(f"package: {path} belongs to no package of Debian; its licence is unknown")


def described(name):
    source, version, arch = output("dpkg-query", "-W", "-f", "${source:Package}\t${Version}\t${Architecture}\n", name).split("\n")[0].split("\t")
    text = Path(f"/usr/share/doc/{name}/copyright").read_text(errors="replace")
    found = re.search(r"^Files:\s*\*\s*\n(?:.+\n)*?License:[ ]*(.+)$", text, re.M)
    return {"source": source, "version": version, "arch": arch, "licence": found.group(1).strip() if found else "-"}


def allowed():
    rows = (line.split(" | ") for line in LICENCES.read_text().splitlines() if line and not line.startswith("#"))
    return {source: (expression, declared) for source, expression, declared in rows}


def component(name, facts, expression, linkage):
    purl = f"pkg:deb/debian/{name}@{facts['version'].replace(':', '%3A').replace('+', '%2B')}?arch={facts['arch']}&distro=debian-12"
    return {"type": "library", "bom-ref": purl, "name": name, "version": facts["version"], "purl": purl,
            "licenses": [{"expression": expression}],
            "properties": [{"name": "dashctl:linkage", "value": linkage}, {"name": "dashctl:source", "value": facts["source"]}]}


def components(binary, build):
    known, rows = owners(), allowed()
    linkages = {owner(path, known): "header" for path in headers(build)}
    linkages |= {owner(path, known): "shared library" for path in libraries(binary)}
    found, refused = [], []
    for name, linkage in sorted(linkages.items()):
        facts = described(name)
        expression, declared = rows.get(facts["source"], ("", ""))
        if not expression or declared != facts["licence"]:
            refused.append(f"{name} (source {facts['source']}): licence '{facts['licence']}', {LICENCES.name} has '{declared}'")
        found.append(component(name, facts, expression, linkage))
    if refused:
        raise SystemExit("package: look at these licences and enter them:\n  " + "\n  ".join(refused))
    return found


def main(binary, build, version, seconds):
    found = components(binary, build)
    me = f"pkg:generic/dashctl@{version}"
    moment = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.4", "version": 1,
           "metadata": {"timestamp": moment, "component": {"type": "application", "bom-ref": me, "name": "dashctl", "version": version}},
           "components": found, "dependencies": [{"ref": me, "dependsOn": [one["bom-ref"] for one in found]}]}
    bom["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bom)).urn
    json.dump(bom, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
