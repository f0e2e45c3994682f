"""PostgreSQL restarted, killed and failed over under load: no write that was acknowledged is lost, and callers see at
most a 503."""
import subprocess

import pytest

from support.postgres_server import PostgresServer, url_of
from support.program import ROOT, run
from support.write_load import WriteLoad, check_kept

ROUNDS = 4


@pytest.fixture
def servers():
    made = []
    yield made
    for server in made:
        server.crash()


def replicas(make_instance, url, count=2):
    first = make_instance("one", start=False, env={"DASHCTL_DATABASE": url, "POLICY_BINARY": "/nonexistent"})
    made = [first.start()]
    for n in range(1, count):
        other = make_instance(f"replica{n}", start=False, admin=False, env={
            **first.env, "DASHCTL_SIGNING_KEY_FILE": str(first.folder / "signing.key")})
        made.append(other.start())
    return made


def clients(instances):
    """Sessions are good at every replica, so one sign-in serves."""
    token = instances[0].login("root").token
    return [lambda one=one: type(one.anonymous)(one.port, token) for one in instances]


@pytest.mark.parametrize("end", ["stop", "crash"])
def test_a_restart_of_the_database_under_load_loses_nothing(make_instance, scratch, servers, end):
    server = PostgresServer.primary(scratch / "pg")
    servers.append(server)
    instances = replicas(make_instance, url_of(server))
    with WriteLoad(clients(instances)) as load:
        load.wait_for(20)
        getattr(server, end)()
        server.start()
        load.wait_for(20)
    check_kept(instances[0].login("root"), load)
    assert run("db", "check", "--data-dir", instances[0].folder, env=instances[0].env).code == 0


@pytest.mark.long
@pytest.mark.parametrize("attempt", range(ROUNDS))
@pytest.mark.parametrize("end", ["stop", "crash"])
def test_a_failover_to_the_standby_under_load_loses_nothing(make_instance, scratch, servers, end, attempt):
    primary = PostgresServer.primary(scratch / "primary")
    servers.append(primary)
    standby = PostgresServer.standby_of(primary, scratch / "standby")
    servers.append(standby)
    url = url_of(primary, standby, options="?target_session_attrs=read-write")
    instances = replicas(make_instance, url)
    with WriteLoad(clients(instances), threads=6) as load:
        load.wait_for(30 + 7 * attempt)
        getattr(primary, end)()
        standby.promote()
        load.wait_for(30)
    check_kept(instances[0].login("root"), load)


@pytest.mark.long
def test_a_commit_that_was_cut_while_it_waited_is_not_counted_before_its_standby_has_it(make_instance, scratch, servers):
    """The primary is restarted while it waits for a standby that is gone: the change is visible there, and nowhere else."""
    primary = PostgresServer.primary(scratch / "primary")
    servers.append(primary)
    standby = PostgresServer.standby_of(primary, scratch / "standby")
    servers.append(standby)
    url = url_of(primary, standby, options="?target_session_attrs=read-write")
    instances = replicas(make_instance, url)
    with WriteLoad(clients(instances), threads=6) as load:
        load.wait_for(20)
        standby.crash()  # every commit waits from here on
        primary.stop()  # and ends its wait: made here, not on the standby
        primary.start()
        seen = len(load.acknowledged)
        primary.crash()
        standby.start()
        standby.promote()
        load.wait_for(20)
        assert len(load.acknowledged) > seen
    check_kept(instances[0].login("root"), load)


def make_certificate(folder):
    """The authority and a server certificate for `localhost` alone."""
    script = ('. scripts/doubles/lib.sh; make_tls "$1"; printf "subjectAltName=DNS:localhost\\n" >"$1/ext"; '
              'openssl x509 -req -in "$1/req.pem" -CA "$1/ca.pem" -CAkey "$1/ca-key.pem" -CAcreateserial -days 9 '
              '-extfile "$1/ext" -out "$1/cert.pem" 2>/dev/null')
    subprocess.run(["bash", "-c", script, "tls", folder], cwd=ROOT, check=True)


def test_verify_full_connects_to_the_server_of_that_name_alone(make_instance, scratch, servers):
    server = PostgresServer.primary(scratch / "pg")
    servers.append(server)
    tls, other = scratch / "pg/tls", scratch / "other"
    for folder in (tls, other):
        make_certificate(folder)
    subprocess.run(["chown", "-R", "--reference", server.data, tls], check=True)
    (tls / "key.pem").chmod(0o600)
    server.stop()
    server.start("-c", "ssl=on", "-c", f"ssl_cert_file={tls}/cert.pem", "-c", f"ssl_key_file={tls}/key.pem")
    # The tests' folder must be readable for who runs them.
    (scratch / "ca.pem").write_bytes((tls / "ca.pem").read_bytes())

    def served(host, authority):
        url = f"postgres://tester@{host}:{server.port}/dash?sslmode=verify-full&sslrootcert={authority}"
        return run("user", "add", "ann", "--data-dir", scratch / "one", "--database", url, "--password-file", "-",
                   stdin="correct horse battery")

    for host, authority in (("127.0.0.1", scratch / "ca.pem"), ("localhost", other / "ca.pem")):
        refused = served(host, authority)
        assert refused.code == 7 and "certificate" in refused.err, refused
    assert server.sql("SELECT to_regclass('users') IS NULL") == "t"
    done = served("localhost", scratch / "ca.pem")
    assert done.code == 0, done
    assert server.sql("SELECT username FROM users") == "ann"
