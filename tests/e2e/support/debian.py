"""The Debian package of this build, and fresh systems to install it in."""
import os
import shutil
import subprocess
from pathlib import Path

from support.program import BINARY, ROOT, clean_environment


def build_package(folder, *options):
    """Runs scripts/package into a folder; its .deb."""
    done = subprocess.run([ROOT / "scripts/package", *options, folder], capture_output=True, text=True, check=False,
                          env=clean_environment({"DASHCTL": BINARY}))
    assert done.returncode == 0, done.stderr
    return next(Path(folder).glob("*.deb"))


def with_version(package, version, folder):
    """The same package under another version."""
    tree = folder / version
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN/control"
    text = control.read_text()
    old = next(line for line in text.splitlines() if line.startswith("Version: "))
    control.write_text(text.replace(old, f"Version: {version}"))
    made = folder / f"dashctl_{version}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "-b", tree, made], check=True, capture_output=True)
    shutil.rmtree(tree)
    return made


class System:
    """A fresh Debian in a folder, entered by chroot."""

    def __init__(self, folder):
        self.folder = Path(folder)
        subprocess.run([ROOT / "scripts/packaging/fresh_root", folder], check=True)
        self.folder.chmod(0o755)

    def run(self, *words, check=True, **env):
        done = subprocess.run(["/usr/sbin/chroot", self.folder, *map(str, words)], capture_output=True, text=True, check=False,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C",
                                   **{name: os.environ[name] for name in ("http_proxy", "https_proxy") if name in os.environ}, **env})
        assert not check or done.returncode == 0, (words, done.stdout[-3000:], done.stderr[-3000:])
        return done

    def install(self, package):
        shutil.copy(package, self.folder / "tmp")
        return self.run("apt-get", "install", "-y", "-q", "--no-install-recommends", f"/tmp/{package.name}")

    def path(self, name):
        return self.folder / name.lstrip("/")
