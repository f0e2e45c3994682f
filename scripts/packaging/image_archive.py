"""An archive for `docker load` of one layer.

    python3 image_archive.py LAYER UID:GID NAME:TAG SECONDS_SINCE_1970 ARCHIVE
"""
import datetime
import hashlib
import io
import json
import sys
import tarfile


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(layer, user, name, seconds, archive):
    layer_digest = digest(layer)
    made = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = json.dumps({
        "architecture": "amd64", "os": "linux", "created": made,
        "config": {"User": user, "WorkingDir": "/var/lib/dashctl", "Entrypoint": ["/usr/bin/dashctl"],
                   "Cmd": ["serve", "--data-dir", "/var/lib/dashctl"], "StopSignal": "SIGTERM", "ExposedPorts": {"8080/tcp": {}},
                   "Env": ["PATH=/usr/bin:/bin", "POLICY_BINARY=/usr/bin/opa", "DASHCTL_LISTEN=0.0.0.0:8080"],
                   "Volumes": {"/var/lib/dashctl": {}},
                   "Healthcheck": {"Test": ["CMD", "/usr/share/dashctl/health"], "Interval": 10 * 10**9, "Timeout": 10 * 10**9, "Retries": 3}},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + layer_digest]},
        "history": [{"created": made, "created_by": "scripts/packaging/image"}]}, sort_keys=True).encode()
    manifest = json.dumps([{"Config": hashlib.sha256(config).hexdigest() + ".json", "RepoTags": [name],
                            "Layers": [layer_digest + "/layer.tar"]}]).encode()

    def member(path, size):
        info = tarfile.TarInfo(path)
        info.size, info.mtime, info.mode = size, int(seconds), 0o644
        return info

    with tarfile.open(archive, "w") as out:
        with open(layer, "rb") as file:
            file.seek(0, io.SEEK_END)
            size = file.tell()
            file.seek(0)
            out.addfile(member(layer_digest + "/layer.tar", size), file)
        out.addfile(member(hashlib.sha256(config).hexdigest() + ".json", len(config)), io.BytesIO(config))
        out.addfile(member("manifest.json", len(manifest)), io.BytesIO(manifest))


if __name__ == "__main__":
    main(*sys.argv[1:])
