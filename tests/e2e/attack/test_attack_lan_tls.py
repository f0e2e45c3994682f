"""TLS on an address that is not the usual loopback one, as on a LAN: the certificate must name it, and no token goes out before."""
import ssl
import subprocess
import urllib.request

import pytest

from support.instance import PASSWORD
from support.ports import free_port
from support.program import run

pytestmark = pytest.mark.attack
ADDRESS = "127.0.0.2"


def certificate(folder, name, san):
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", f"/CN={name}", "-addext", f"subjectAltName={san}", "-keyout", str(key), "-out", str(cert)],
                   check=True, capture_output=True)
    return cert, key


@pytest.fixture
def serve(make_instance, scratch):
    def start(san):
        cert, key = certificate(scratch, "server", san)
        port = free_port()
        instance = make_instance(start=False)
        instance.start("--listen", f"{ADDRESS}:{port}", "--tls-cert", cert, "--tls-key", key)
        return instance, f"https://{ADDRESS}:{port}", cert

    return start


def test_a_certificate_that_names_the_address_is_taken(serve):
    instance, url, cert = serve(f"IP:{ADDRESS}")
    context = ssl.create_default_context(cafile=str(cert))
    assert urllib.request.urlopen(url + "/livez", context=context, timeout=30).status == 200
    done = run("config", "list", "--target", url, "--admin-user", "root", "--password-file", "-", "--ca-bundle", cert, stdin=PASSWORD)
    assert done.code == 0, done


@pytest.mark.parametrize("flags", [[], ["--ca-bundle"]])
def test_another_certificate_is_refused_before_any_password(serve, flags):
    instance, url, cert = serve("IP:127.0.0.3")
    more = [*flags, cert] if flags else []
    done = run("config", "list", "--target", url, "--admin-user", "root", "--password-file", "-", *more, stdin=PASSWORD)
    assert done.code == 7, done
    assert "tls" in done.err.lower() or "certificate" in done.err.lower()
    instance.stop()
    assert "/api/auth/login" not in "".join(instance.log)


def test_plain_http_to_it_is_answered_by_nothing_useful(serve):
    _, url, _ = serve(f"IP:{ADDRESS}")
    done = run("config", "list", "--target", url.replace("https", "http"), "--admin-user", "root", "--password-file", "-", stdin=PASSWORD)
    assert done.code == 7, done
