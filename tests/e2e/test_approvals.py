"""Approvals cover the time of a change: digests, reschedules, batches, races, and the list of what waits."""
import hashlib
import threading
from datetime import datetime, timedelta, timezone

import pytest

from support.databases import rows
from support.jobs import MACHINE
from support.program import run


def in_hours(hours):
    return (datetime.now(timezone.utc) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M")


@pytest.fixture
def booked(make_instance):
    """An instance without an engine whose bookings wait for an approval; alice asks, bob and root may approve."""
    one = make_instance(env={"POLICY_BINARY": "/nonexistent/engine"})
    one.set(change_approval_required="true")
    one.add_user("alice")
    one.add_user("bob", grants=["change_windows:use"])
    return one, one.login("alice"), one.login("bob")


def book(http, hours=24, **more):
    answer = http.post("/api/cloud1/deploy", {**MACHINE, "run_at": in_hours(hours), **more})
    assert answer.status == 200 and answer.json["status"] == "awaiting_approval", answer
    return answer.json["job_id"]


def job(http, job_id):
    answer = http.get(f"/api/jobs/{job_id}")
    assert answer.status == 200, answer
    return answer.json


def digest_of(http, job_id):
    return job(http, job_id)["approval_digest"]


def approve(http, job_id, **body):
    return http.post(f"/api/change-windows/approvals/{job_id}", body)


def reject(http, job_id, **body):
    return http.post(f"/api/jobs/{job_id}/reject", body)


def move(http, job_id, hours):
    answer = http.post(f"/api/jobs/{job_id}/reschedule", {"run_at": in_hours(hours)})
    assert answer.status == 200, answer


def test_an_approval_names_the_digest_that_was_read(booked):
    _, alice, bob = booked
    job_id = book(alice)
    digest = digest_of(bob, job_id)
    assert digest and digest == digest_of(alice, job_id)
    assert [j["approval_digest"] for j in alice.get("/api/jobs").json["jobs"]] == [digest]
    for wrong in ("", "0" * 64, digest[:-1], digest.upper()):
        refused = approve(bob, job_id, digest=wrong)
        assert refused.status == 409, (wrong, refused)
    assert approve(bob, job_id, digest=7).status == 422
    assert job(bob, job_id)["status"] == "awaiting_approval"
    done = approve(bob, job_id, digest=digest)
    assert done.status == 200 and done.json["status"] == "scheduled" and done.json["already"] is False, done
    assert approve(bob, job_id, digest=digest).json["already"] is True
    assert approve(bob, job_id, digest="0" * 64).status == 409
    assert alice.post("/api/cloud1/deploy", MACHINE).status == 200
    assert [j["approval_digest"] for j in alice.get("/api/jobs?status=pending").json["jobs"]] == [None]


def test_the_first_submission_is_approved_without_a_digest(booked):
    _, alice, bob = booked
    job_id = book(alice)
    assert approve(bob, job_id).json["status"] == "scheduled"
    other = book(alice, name="other")
    assert approve(bob, other, digest=None).json["status"] == "scheduled"


def test_what_was_moved_is_approved_by_its_digest_only(booked):
    _, alice, bob = booked
    job_id = book(alice)
    before = digest_of(bob, job_id)
    move(alice, job_id, 48)
    after = digest_of(bob, job_id)
    assert after != before
    refused = approve(bob, job_id)
    assert refused.status == 409 and "approval_digest" in refused.json["detail"], refused
    assert approve(bob, job_id, digest=before).status == 409
    assert approve(bob, job_id, digest=after).json["status"] == "scheduled"
    # A reschedule voids what was approved, even to the very same time.
    same = job(bob, job_id)["scheduled_for"]
    assert alice.post(f"/api/jobs/{job_id}/reschedule", {"run_at": same}).status == 200
    voided = job(bob, job_id)
    assert voided["status"] == "awaiting_approval" and voided["approved_by"] is None
    assert approve(bob, job_id).status == 409
    assert approve(bob, job_id, digest=voided["approval_digest"]).status == 200


def test_who_moves_somebodys_booking_does_not_approve_it(booked):
    one, alice, bob = booked
    root = one.login("root")
    one.add_user("second", admin=True)
    second = one.login("second")
    job_id = book(alice)
    move(root, job_id, 48)
    move(second, job_id, 72)
    digest = digest_of(root, job_id)
    for who in (root, second):
        refused = approve(who, job_id, digest=digest)
        assert refused.status == 403, refused
    assert approve(alice, job_id, digest=digest).status == 403
    assert approve(bob, job_id, digest=digest).status == 200
    # Who moves it may still reject it, and approve what he did not move.
    rejected = book(alice)
    move(root, rejected, 48)
    assert reject(root, rejected).json["status"] == "rejected"
    assert approve(root, book(alice)).status == 200


def test_a_rejection_counts_without_a_digest(booked):
    _, alice, bob = booked
    moved = book(alice)
    before = digest_of(bob, moved)
    move(alice, moved, 48)
    assert reject(bob, moved, digest=before).status == 409
    assert reject(bob, moved, digest=7).status == 422
    assert job(bob, moved)["status"] == "awaiting_approval"
    assert reject(bob, moved, reason="no").json["status"] == "rejected"
    other = book(alice, name="other")
    assert reject(bob, other, digest=digest_of(bob, other)).json["status"] == "rejected"


def test_a_batch_is_approved_over_all_of_its_machines(booked):
    _, alice, bob = booked
    answer = alice.post("/api/cloud1/deploy", {**MACHINE, "count": 3, "run_at": in_hours(24)}).json
    batch, jobs = answer["job_id"], answer["job_ids"]
    before = digest_of(bob, batch)
    assert before and before not in [digest_of(bob, one) for one in jobs]
    move(alice, jobs[2], 48)
    assert digest_of(bob, batch) != before
    for refused in (approve(bob, batch), approve(bob, batch, digest=before), reject(bob, batch, digest=before),
                    approve(bob, batch, digest=digest_of(bob, jobs[0]))):
        assert refused.status == 409, refused
    # Nothing of it was approved in part.
    assert {job(bob, one)["status"] for one in jobs} == {"awaiting_approval"}
    assert approve(bob, batch, digest=digest_of(bob, batch)).json["status"] == "scheduled"
    assert {job(bob, one)["status"] for one in jobs} == {"scheduled"}
    again = alice.post("/api/cloud1/deploy", {**MACHINE, "name": "other", "count": 2, "run_at": in_hours(24)})
    assert again.status == 200, again
    again = again.json
    assert reject(bob, again["job_id"], digest=digest_of(bob, again["job_id"])).json["status"] == "rejected"


def test_no_race_ends_approved_for_a_time_that_nobody_saw(booked):
    _, alice, bob = booked
    for n in range(12):
        job_id = book(alice, name=f"web{n}")
        seen = job(bob, job_id)
        start = threading.Barrier(2)
        answers = {}

        def decide(name, call):
            start.wait()
            answers[name] = call()

        body = {} if n % 2 else {"digest": seen["approval_digest"]}
        threads = [threading.Thread(target=decide, args=("approve", lambda: approve(bob, job_id, **body))),
                   threading.Thread(target=decide, args=("move", lambda: alice.post(
                       f"/api/jobs/{job_id}/reschedule", {"run_at": in_hours(48)})))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        after = job(bob, job_id)
        assert {answers["approve"].status, answers["move"].status} <= {200, 409}, answers
        if after["status"] == "scheduled":
            assert after["scheduled_for"] == seen["scheduled_for"], (answers, after)
        else:
            assert after["status"] == "awaiting_approval" and after["approved_by"] is None, (answers, after)


def test_the_command_line_names_digests_too(booked):
    one, alice, bob = booked
    token = one.folder.parent / "token"
    token.write_text(one.token("bob"))
    remote = ("--target", one.url, "--token-file", token)
    for where in (remote, ("--data-dir", one.folder)):
        job_id = book(alice)
        digest = digest_of(bob, job_id)
        assert digest in run("job", "show", job_id, *where).out
        move(alice, job_id, 48)
        assert run("job", "approve", job_id, *where).code == 12
        assert run("job", "approve", job_id, "--digest", digest, *where).code == 12
        assert run("job", "approve", job_id, "--digest", "", *where).code == 2
        done = run("job", "approve", job_id, "--digest", digest_of(bob, job_id), *where)
        assert done.code == 0 and "is scheduled" in done.out, done
        other = book(alice, name="other")
        assert run("job", "reject", other, "--digest", digest, *where).code == 12
        done = run("job", "reject", other, "--digest", digest_of(bob, other), *where)
        assert done.code == 0, done


def test_what_an_older_release_approved_stays_approved(booked):
    one, alice, bob = booked
    approved, waiting, moved = (book(alice, name=name) for name in ("approved", "waiting", "moved"))
    assert approve(bob, approved).status == 200
    move(alice, moved, 48)
    one.stop()
    for job_id, action, request in rows(one, "SELECT id, action, request FROM jobs"):
        old = "not_gated:" + hashlib.sha256(f"{action}\n{request}".encode()).hexdigest()
        rows(one, "UPDATE jobs SET approval_digest = ? WHERE id = ?", old, job_id)
    one.start()
    bob = one.login("bob")
    assert job(bob, approved)["status"] == "scheduled" and job(bob, approved)["approved_by"] == "bob"
    assert approve(bob, waiting, digest=digest_of(bob, waiting)).json["status"] == "scheduled"
    assert approve(bob, moved).status == 409
    assert approve(bob, moved, digest=digest_of(bob, moved)).json["status"] == "scheduled"


def test_the_list_of_what_waits(booked):
    one, alice, bob = booked
    one.add_user("eve")
    eve = one.login("eve")
    path = "/api/change-windows/approvals"
    first, second = book(alice), book(eve, name="hers")
    done = book(alice, name="done")
    assert approve(bob, done).status == 200

    def listed(http, query=""):
        answer = http.get(path + query)
        assert answer.status == 200, answer
        return [j["id"] for j in answer.json["jobs"]]

    assert listed(bob) == listed(one.login("root")) == [second, first]
    assert listed(alice) == [first] and listed(eve) == [second]
    assert listed(bob, "?page=2&page_size=1") == [first]
    assert bob.get(path).json["total"] == 2
    waiting = bob.get(path).json["jobs"][0]
    assert waiting["approval_digest"] == digest_of(bob, second) and waiting["approval_required"] is True
    assert one.anonymous.get(path).status == 401
    assert bob.get(path + "?page=0").status == 422
    assert approve(bob, first).status == 200
    assert listed(alice) == []


def test_an_endless_expiry_is_refused_and_the_longest_does_not_end_in_the_past(booked):
    one, alice, *_ = booked
    endless = one.dashctl("config", "set", "approval_expiry_hours", 2**63 - 1)
    assert endless.code == 1 and "from 1 to 87600" in endless.err, endless
    one.set(approval_expiry_hours="87600")
    assert job(alice, book(alice))["approval_expires_at"] > datetime.now(timezone.utc).isoformat()
