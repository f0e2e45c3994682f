"""The Docker engine that scripts/test starts."""
import subprocess

SECRET = "only-the-container-knows"


def docker(*args, check=True):
    return subprocess.run(["docker", *args], check=check, capture_output=True, text=True)
