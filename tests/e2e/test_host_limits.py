"""What the host does not allow: a file's size, a folder of somebody else's, a name that is too long."""
import os

import pytest

from support.program import run
from support.storage import upload

MIB = 1 << 20


def local_store(make_instance, scratch):
    """An instance whose assets lie in the folder `assets`."""
    (scratch / "assets").mkdir()
    instance = make_instance(start=False)
    instance.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local")
    return instance


def as_somebody_else(instance, *words):
    """The command as an account that may not enter the instance's folder."""
    instance.folder.chmod(0)
    try:
        somebody = ["setpriv", "--reuid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
        return run(*words, "--data-dir", instance.folder, program=somebody)
    finally:
        instance.folder.chmod(0o700)


def test_a_file_above_the_limit_of_sizes_is_an_error_and_ends_no_server(make_instance, scratch):
    instance = local_store(make_instance, scratch)
    instance.wrapper = ["prlimit", f"--fsize={8 * MIB}"]
    instance.start()
    root = instance.login("root")
    answer = upload(root, "large.rpm", bytes(9 * MIB))
    assert answer.status == 502 and "large" in answer.json["detail"], answer
    assert upload(root, "small.rpm", b"x").status == 201
    assert [path.name for path in (scratch / "assets").rglob("*") if path.is_file()] == ["small.rpm"]


def test_a_file_above_the_limit_of_sizes_is_an_error_of_the_command(make_instance, scratch):
    instance = local_store(make_instance, scratch)
    (scratch / "assets/a.rpm").write_bytes(bytes(9 * MIB))
    done = run("storage", "fetch", "a.rpm", "-o", scratch / "a.rpm", "--data-dir", instance.folder, program=["prlimit", f"--fsize={8 * MIB}"])
    assert done.code != 0 and "File too large" in done.err, done
    assert not (scratch / "a.rpm").exists()


def test_a_folder_of_somebody_else_is_named_with_the_reason(make_instance):
    instance = make_instance(start=False)
    for words in (["config", "list"], ["serve", "--listen", "127.0.0.1:0"]):
        done = as_somebody_else(instance, *words)
        assert done.code == 1 and done.err.endswith("dashctl.db: Permission denied\n"), done
        assert "internal" not in done.err


def test_a_name_that_no_file_can_have_is_named_with_the_reason(make_instance, scratch):
    instance = local_store(make_instance, scratch)
    (scratch / "assets/a.yml").write_text("x")
    out = scratch / ("n" * 300)
    done = instance.dashctl("storage", "fetch", "a.yml", "-o", out)
    assert done.code != 0 and "File name too long" in done.err and "internal" not in done.err, done


@pytest.mark.parametrize("flags", [["--workers", "1001"], ["--public-url", "https://user@host"], ["--public-url", "https://host/?a=b"],
                                   ["--public-url", "https://host/#a"]])
def test_a_flag_of_the_server_out_of_its_bounds_is_refused(scratch, flags):
    done = run("serve", "--data-dir", scratch / "new", "--listen", "127.0.0.1:0", *flags, timeout=20)
    assert done.code == 2 and flags[0] in done.err, done
