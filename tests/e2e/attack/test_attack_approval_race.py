"""Approve and reschedule at the same instant: nothing ends approved for a time that its approver did not see."""
import threading
from datetime import datetime, timedelta, timezone

import pytest

from support.jobs import MACHINE

pytestmark = pytest.mark.attack
ROUNDS = 40


def hour(n):
    return (datetime.now(timezone.utc) + timedelta(hours=n)).strftime("%Y-%m-%dT%H:%M")


@pytest.mark.parametrize("with_digest", [True, False])
def test_approve_and_reschedule_at_once(make_instance, database, figures, with_digest):
    one = make_instance(env={"POLICY_BINARY": "/nonexistent/engine", **database})
    one.set(change_approval_required="true")
    one.add_user("alice")
    one.add_user("bob", grants=["change_windows:use"])
    alice, bob = one.login("alice"), one.login("bob")
    wrong, outcomes = [], {}
    for round_ in range(ROUNDS):
        booked = alice.post("/api/cloud1/deploy", {**MACHINE, "name": f"web-{round_}", "run_at": hour(5), "run_timezone": "UTC"})
        job_id = booked.json["job_id"]
        seen = bob.get(f"/api/jobs/{job_id}").json
        answers = {}
        body = {"digest": seen["approval_digest"]} if with_digest else None
        both = [threading.Thread(target=lambda: answers.update(approve=bob.post(f"/api/change-windows/approvals/{job_id}", body))),
                threading.Thread(target=lambda: answers.update(
                    move=alice.post(f"/api/jobs/{job_id}/reschedule", {"run_at": hour(9), "run_timezone": "UTC"})))]
        for thread in both if round_ % 2 else reversed(both):
            thread.start()
        for thread in both:
            thread.join()
        after = bob.get(f"/api/jobs/{job_id}").json
        key = (answers["approve"].status, answers["move"].status, after["status"])
        outcomes[key] = outcomes.get(key, 0) + 1
        if after["status"] != "awaiting_approval" and after["scheduled_for"] != seen["scheduled_for"]:
            wrong.append((key, seen["scheduled_for"], after["scheduled_for"]))
    figures(f"approve {'with' if with_digest else 'without'} a digest against reschedule").print(
        *(f"{n} of {ROUNDS}: approve {a}, reschedule {m}, then {s}" for (a, m, s), n in sorted(outcomes.items())))
    assert wrong == []
