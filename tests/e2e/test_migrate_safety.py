"""Plans, sealed bundles, the way back, TLS-inspecting proxies and a Python dashboard on the other side."""
import json
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import threading

import pytest

from support.migrate import counts, keys_of, write_bundle
from support.program import BINARY, clean_environment, run
from support.relay import pump


# --- pinned plans ---


def test_a_plan_is_written_exactly_or_refused_with_the_keys_that_drifted(filled):
    bundle, plan = filled.export(), filled.scratch / "plan.json"
    assert filled.diff(bundle, "--plan-out", plan).code == 0
    assert "AKIAEXAMPLE" not in plan.read_text() and stat.S_IMODE(plan.stat().st_mode) == 0o600
    filled.target.set(cloud1_access_key_id="moved meanwhile")
    done = filled.apply(bundle, "--plan", plan)
    assert done.code == 11 and "cloud1_access_key_id" in done.err
    assert filled.target_config() == {"cloud1_access_key_id": "moved meanwhile"}
    done = filled.apply(bundle, "--plan", plan, "--accept-drift", "aws_access_key_id")
    assert done.code == 0, done
    assert filled.target_config()["cloud1_access_key_id"] == "AKIAEXAMPLE"


def test_a_plan_names_its_bundle_and_its_target(filled):
    bundle, plan = filled.export(), filled.scratch / "plan.json"
    told = filled.diff(bundle, "--plan-out", plan).err
    assert f"dashctl migrate import --plan {plan} --apply" in told
    done = filled.migrate("import", "--plan", plan, "--apply", cwd="/")
    assert done.code == 0 and filled.target_config()["cloud1_access_key_id"] == "AKIAEXAMPLE", done
    piped = filled.scratch / "piped.json"
    assert filled.diff("-", "--plan-out", piped, stdin=bundle.read_text()).code == 0
    done = filled.migrate("import", "--plan", piped, "--apply")
    assert done.code == 2 and "--bundle" in done.err


def test_a_plan_without_blind_comparison_is_carried_out_without_it(filled):
    filled.target.set(epml_pat="theirs")
    bundle, plan = write_bundle(filled.scratch / "b.json", config={"epml_pat": "mine"}), filled.scratch / "plan.json"
    assert counts(filled.diff(bundle, "--no-compare", "--plan-out", plan))["UNKNOWN"] == 1
    done = filled.migrate("import", "--plan", plan, "--apply")
    assert counts(done)["UNKNOWN"] == 1 and done.code == 0, done
    assert filled.target.dashctl("config", "get", "epml_pat", "--reveal").out.strip() == "mine"


def test_a_plan_carries_its_selection(filled):
    bundle, plan = filled.export(), filled.scratch / "plan.json"
    filled.diff(bundle, "--only", "cloud2_", "--plan-out", plan)
    assert filled.apply(bundle, "--plan", plan, "--only", "cloud1_").code == 2
    assert filled.apply(bundle, "--plan", plan).code == 0
    assert set(filled.target_config()) == {"cloud2_tenant_id", "cloud2_region_configs"}


# --- sealed bundles ---


def test_a_sealed_bundle_opens_with_its_passphrase_only(filled):
    good, bad = filled.scratch / "good", filled.scratch / "bad"
    good.write_text("open sesame\n")
    bad.write_text("wrong\n")
    out = filled.export("--encrypt", "--passphrase-file", good)
    assert "AKIAEXAMPLE" not in out.read_text()
    done = filled.diff(out, "--passphrase-file", bad)
    assert done.code == 9 and "passphrase" in done.err
    assert filled.apply(out, "--passphrase-file", good).code == 0
    assert filled.target_config()["cloud1_access_key_id"] == "AKIAEXAMPLE"


# --- the way back ---


def test_an_import_keeps_the_target_as_it_was(filled):
    filled.target.set(cloud1_access_key_id="before")
    done = filled.apply(filled.export())
    assert done.code == 0, done
    snapshots = list((filled.home / ".dashboard-migrate").glob("rollback-*.json"))
    assert len(snapshots) == 1 and stat.S_IMODE(snapshots[0].stat().st_mode) == 0o600
    assert json.loads(snapshots[0].read_text())["config"]["cloud1_access_key_id"] == "before"
    again = filled.apply(snapshots[0])
    assert again.code == 0 and filled.target_config()["cloud1_access_key_id"] == "before"


def test_without_a_place_for_the_way_back_nothing_is_written(filled):
    filled.target.set(cloud1_access_key_id="before")
    bundle = filled.export()
    done = filled.apply(bundle, "--snapshot-out", filled.scratch)
    assert done.code == 1 and "--snapshot-out" in done.err
    assert filled.target_config() == {"cloud1_access_key_id": "before"}


# --- the recommended procedure, whole ---


def test_the_recommended_procedure(filled):
    bundle = filled.scratch / "full.json"
    assert run("migrate", "export", "--data-dir", filled.source.folder, "--out", bundle).code == 0
    assert filled.diff(bundle, "--exit-code").code == 6
    snapshot = filled.scratch / "snapshot.json"
    assert filled.migrate("export", "--source", filled.target.url, "--out", snapshot).code == 0
    for tranche in ("cloud1_", "cloud2_", "admission_"):
        assert filled.apply(bundle, "--only", tranche).code == 0
    assert filled.apply(bundle).code == 0
    assert filled.diff(bundle, "--exit-code").code == 0
    assert run("migrate", "shred", bundle, snapshot).code == 0
    assert not bundle.exists() and not snapshot.exists()


# --- a proxy that inspects TLS ---


@pytest.fixture
def tls_proxy(scratch):
    """Ends TLS with a certificate of its own CA in front of a plain instance; gives start(port) → (url, ca file)."""
    openssl = shutil.which("openssl")
    assert openssl, "openssl is a dependency of the tests: scripts/setup"

    def call(*args):
        subprocess.run([openssl, *map(str, args)], check=True, capture_output=True)

    ca, key, csr, cert = (scratch / n for n in ("ca.pem", "key.pem", "csr.pem", "cert.pem"))
    call("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", scratch / "ca.key",
         "-out", ca, "-subj", "/CN=inspecting proxy", "-days", "2")
    call("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", csr, "-subj",
         "/CN=localhost")
    extensions = scratch / "ext"
    extensions.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    call("x509", "-req", "-in", csr, "-CA", ca, "-CAkey", scratch / "ca.key", "-CAcreateserial", "-out", cert, "-days", "2",
         "-extfile", extensions)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(port):
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            try:
                outer = context.wrap_socket(plain, server_side=True)
            except (ssl.SSLError, OSError):
                continue
            inner = socket.create_connection(("127.0.0.1", port))
            for source, sink in ((outer, inner), (inner, outer)):
                threading.Thread(target=pump, args=(source, sink, sink.sendall), daemon=True).start()

    def start(port):
        threading.Thread(target=serve, args=(port,), daemon=True).start()
        return f"https://127.0.0.1:{listener.getsockname()[1]}", ca

    yield start
    listener.close()


def test_a_tls_inspecting_proxy_needs_its_root(filled, tls_proxy):
    url, ca = tls_proxy(filled.source.port)
    out = filled.scratch / "b.json"
    args = ["export", "--source", url, "--out", out]
    refused = filled.migrate(*args)
    assert refused.code == 7 and f"Cannot reach {url}" in refused.err and "--ca-bundle" in refused.err
    assert not out.exists()
    assert filled.migrate(*args, "--ca-bundle", ca).code == 0
    assert json.loads(out.read_text())["config"]["cloud1_access_key_id"] == "AKIAEXAMPLE"
    insecure = filled.migrate(*args, "--insecure")
    assert insecure.code == 0 and "not verified" in insecure.err
    missing = filled.migrate(*args, "--ca-bundle", filled.scratch / "none.pem")
    assert missing.code == 7 and "none.pem" in missing.err


# --- a Python dashboard on the other side ---


def test_a_peer_is_a_source(filled, peer):
    out = filled.scratch / "peer.json"
    done = filled.migrate("export", "--source", peer.url, "--out", out)
    assert done.code == 0, done
    bundle = json.loads(out.read_text())
    assert bundle["config"] == {"cloud1_access_key_id": "AK", "epml_pat": "shown in clear",
                                "storage_active_backend": "obj_cloud1", "storage_obj_cloud1_bucket": "assets"}
    assert bundle["regions"] == {"cloud2": {"westus2": {"gallery_name": "g"}}}
    assert bundle["excluded"] == {"cloud1_secret_access_key": "masked", "jwt_secret_key": "instance_local"}
    assert "1 secrets in clear" in done.err and "epml_pat" in done.err
    assert filled.apply(out).code == 0
    assert filled.target_config()["storage_active_backend"] == "obj_cloud1"


def test_a_peer_is_a_target_in_its_own_names(filled, peer):
    bundle = write_bundle(filled.scratch / "b.json", config={"cloud1_access_key_id": "new", "storage_active_backend": "obj_cloud3",
                                                             "cloud1_secret_access_key": "s"},
                          regions={"cloud1": {"us-east-1": {"vpc_id": "v", "not_in_its_model": "x"}},
                                   "cloud4": {"eu-frankfurt-1": {"compartment": "c"}}})
    args = ["import", "--bundle", bundle, "--target", peer.url]
    done = filled.migrate(*args, "--apply")
    assert done.code == 0, done
    assert peer.imports == [{"aws_access_key_id": "new", "storage_active_backend": "gcs", "aws_secret_access_key": "s",
                             "aws_region.us-east-1.vpc_id": "v"}]
    assert keys_of(done, "UNKNOWN") == ["cloud1_secret_access_key"]
    assert "cloud1_region.us-east-1.not_in_its_model" in done.err and "cloud4_region.eu-frankfurt-1.compartment" in done.err
    assert "could not be read back" in done.err and "keeps no history" in done.err
    again = filled.migrate(*args)
    assert counts(again) == {"ADD": 0, "CHANGE": 0, "UNKNOWN": 1, "SAME": 3}


def test_a_peer_cannot_roll_back_and_says_what_can_be_done(filled, peer):
    done = filled.migrate("rollback", "--target", peer.url, "--change", "whatever")
    assert done.code == 1 and "snapshot" in done.err and "cannot remove keys" in done.err


def test_a_second_factor_is_told_plainly(filled, peer):
    peer.login_status = 202
    done = filled.migrate("export", "--source", peer.url)
    assert done.code == 8 and "second factor" in done.err and "--token-file" in done.err


def test_a_redirect_is_named_and_never_followed(filled, peer):
    peer.redirect = "http://evil.example/collect"
    done = filled.migrate("export", "--source", peer.url)
    assert done.code == 1 and "evil.example" in done.err and "not followed" in done.err


def test_values_that_a_peer_cannot_open_make_no_bundle(filled, peer):
    sealed = "gAAAAABrAR55N-d3j4RaA3_nebzSetdKiYcxXCWFM04GCYWae9OtAoZU_lEWpt85QdPS18eRx26eqzIruBCJ6bM_eIUA6ZpKmg=="
    peer.config["aws_default_region"] = sealed
    out = filled.scratch / "x.json"
    done = filled.migrate("export", "--source", peer.url, "--out", out)
    assert done.code == 9 and "cloud1_default_region" in done.err
    assert not out.exists() and sealed not in done.err


# --- interruption ---


def test_ctrl_c_says_what_was_written_and_leaves_no_half_file(filled):
    listener = socket.create_server(("127.0.0.1", 0))  # accepts and never answers
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    process = subprocess.Popen([BINARY, "migrate", "export", "--source", url, "--token", "a.b.c", "--out",
                                str(filled.scratch / "out.json")], env=clean_environment(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    connection, _ = listener.accept()
    connection.recv(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and "nothing was written" in err
    assert [p.name for p in filled.scratch.glob("out.json*")] == []
    listener.close()
