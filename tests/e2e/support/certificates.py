"""Certificates of a test's own."""
import subprocess


def make_certificate(folder, name="localhost"):
    """A self-signed one for 127.0.0.1 and localhost; its files (chain, key)."""
    chain, key = folder / f"{name}-chain.pem", folder / f"{name}-key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", str(key), "-out",
                    str(chain)], check=True, capture_output=True)
    return chain, key
