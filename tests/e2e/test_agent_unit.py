"""launchers/dashctl-agent.service, checked by systemd's own tool."""
import subprocess

from support.program import BINARY, ROOT

EXPOSURE = 2.0  # of 10, the lower the better; `systemd-analyze security` calls this OK


def unit_in(folder, change=("", "")):
    text = (ROOT / "launchers/dashctl-agent.service").read_text()
    assert change[0] in text
    unit = folder / "dashctl-agent.service"
    unit.write_text(text.replace("/usr/bin/dashctl", BINARY).replace(*change))
    return unit


def analyze(*words):
    done = subprocess.run(["systemd-analyze", *map(str, words)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_systemd_has_nothing_against_the_unit(scratch):
    assert analyze("verify", "--man=no", unit_in(scratch)) == (0, "")
    assert "RestartPrevent" in analyze("verify", "--man=no", unit_in(scratch, ("RestartPreventExitStatus=2",
                                                                               "RestartPreventExitStatuses=2")))[1]


def test_its_exposure_is_low(scratch):
    words = ["security", "--offline=true", "--no-pager", f"--threshold={int(EXPOSURE * 10)}"]
    code, said = analyze(*words, unit_in(scratch))
    assert code == 0, said
    assert analyze(*words, unit_in(scratch, ("CapabilityBoundingSet=\n", "")))[0] != 0
