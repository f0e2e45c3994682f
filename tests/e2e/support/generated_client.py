"""The programs that read the description of the API, in the virtual environment of scripts/doubles/install.sh."""
import os
from pathlib import Path


def tool(name):
    home = os.environ.get("DOUBLES_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dashctl" / "doubles"
    path = Path(home) / "contract" / "bin" / name
    assert path.exists(), f"{path} is missing: run scripts/doubles/install.sh contract"
    return path
