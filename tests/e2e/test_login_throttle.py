"""Whoever guesses passwords is slowed down, and whose account it is signs in all the same."""
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.http_client import Http
from support.instance import PASSWORD


@pytest.fixture
def attacked(make_instance):
    """An instance behind a proxy: the test names the client's address."""
    one = make_instance(start=False)
    one.add_user("nora")
    return one.start("--trusted-proxy", "127.0.0.1")


def attempt(instance, address, name="nora", password="not it at all"):
    return Http(instance.port).post("/api/auth/login", form={"username": name, "password": password},
                                    headers={"X-Forwarded-For": address})


def test_ten_failures_stop_an_account_at_one_address_and_nowhere_else(attacked):
    for name in ("nora", "nobody"):
        answers = [attempt(attacked, "203.0.113.1", name) for _ in range(11)]
        assert [answer.status for answer in answers] == [401] * 10 + [429], answers
        assert 800 < int(answers[-1].headers["retry-after"]) <= 900
    assert attempt(attacked, "203.0.113.1", password=PASSWORD).status == 429
    assert attempt(attacked, "203.0.113.2", password=PASSWORD).status == 200
    assert attempt(attacked, "203.0.113.1", "root", PASSWORD).status == 200


def test_fifty_failures_stop_an_address(attacked):
    for i in range(50):
        assert attempt(attacked, f"2001:db8::{i:x}", f"name-{i}").status == 401
    assert attempt(attacked, "2001:db8::ffff", password=PASSWORD).status == 429  # one /64
    assert attempt(attacked, "2001:db8:0:1::1", password=PASSWORD).status == 200


def test_many_attackers_share_one_attempt_a_second_and_the_owner_does_not_wait(attacked):
    home = "192.0.2.7"
    assert attempt(attacked, home, password=PASSWORD).status == 200
    with ThreadPoolExecutor(4) as pool:
        spread = [f"198.51.100.{i}" for i in range(10) for _ in range(10)]
        assert {answer.status for answer in pool.map(lambda a: attempt(attacked, a), spread)} == {401}
    with ThreadPoolExecutor(16) as pool:
        burst = list(pool.map(lambda i: attempt(attacked, f"203.0.113.{i}"), range(32)))
    stopped = [answer for answer in burst if answer.status == 429]
    assert len(stopped) > 16 and {answer.headers["retry-after"] for answer in stopped} == {"1"}, burst
    assert {answer.status for answer in burst} <= {401, 429}
    for _ in range(3):
        assert attempt(attacked, home, password=PASSWORD).status == 200
    assert attempt(attacked, "192.0.2.8", "root", PASSWORD).status == 200
