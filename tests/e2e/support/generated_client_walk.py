"""Walks the main flows with the client that test_contract.py generated; argument: the instance's address. Runs in the
environment of the generator. Prints the flows as JSON; an answer that the description does not have is an exception."""
import base64
import json
import sys

from generated import AuthenticatedClient, Client
from generated.api.account import (delete_api_tokens_id, delete_api_users_name, get_api_auth_me, get_api_tokens, get_api_users,
                                   patch_api_users_name, post_api_auth_login, post_api_tokens, post_api_users)
from generated.api.admission import get_api_admission_decisions, get_api_settings_admission, post_api_admission_check
from generated.api.audit import get_api_audit, get_api_audit_prove, get_api_audit_verify
from generated.api.changes import post_api_cloud1_deploy
from generated.api.daemon import get_api_doctor, get_api_health
from generated.api.jobs import get_api_jobs, get_api_jobs_id, get_api_jobs_id_logs
from generated.api.setup import get_api_setup_config, get_api_setup_config_history, put_api_setup_config
from generated.api.storage import (delete_api_storage_asset_name, get_api_storage_backends, get_api_storage_fetch, get_api_storage_list,
                                   post_api_storage_upload)
from generated.api.windows import get_api_change_windows, get_api_workgroups
from generated.models import (DeployRequest, Error, Invalid, PatchApiUsersNameBody, PostApiAdmissionCheckBody,
                              PostApiAdmissionCheckBodyRequest, PostApiAuthLoginBody, PostApiStorageUploadBody, PostApiTokensBody,
                              PostApiUsersBody, PutApiSetupConfigBody)

PASSWORD = "correct horse battery"


def good(answer):
    """The parsed answer of a call that must succeed."""
    assert answer is not None and not isinstance(answer, (Error, Invalid)), answer
    return answer


def sign_in(url):
    anonymous = Client(base_url=url, raise_on_unexpected_status=True)
    login = good(post_api_auth_login.sync(client=anonymous, body=PostApiAuthLoginBody("root", PASSWORD)))
    client = AuthenticatedClient(base_url=url, token=login.access_token, raise_on_unexpected_status=True)
    assert good(get_api_auth_me.sync(client=client)).username == "root"
    wrong = post_api_auth_login.sync_detailed(client=anonymous, body=PostApiAuthLoginBody("root", "wrong"))
    assert wrong.status_code == 401 and isinstance(wrong.parsed, Error)
    assert good(get_api_health.sync(client=client)).status == "ok"
    return client


def accounts(client):
    made = good(post_api_users.sync(client=client, body=PostApiUsersBody("carol", PASSWORD, workgroups=["team"])))
    assert made.username == "carol" and made.workgroups == ["team"]
    assert "carol" in [user.username for user in good(get_api_users.sync(client=client))]
    changed = good(patch_api_users_name.sync("carol", client=client, body=PatchApiUsersNameBody(grant=["jobs:read"])))
    assert changed.permissions.additional_properties == {"jobs": ["read"]}
    assert good(delete_api_users_name.sync("carol", client=client)).is_active is False
    short = post_api_users.sync_detailed(client=client, body=PostApiUsersBody("dave", "short"))
    assert short.status_code in (400, 422)


def tokens(client):
    token = good(post_api_tokens.sync(client=client, body=PostApiTokensBody("walk", expires_days=1)))
    assert token.token.startswith("dash_") and token.id in [one.id for one in good(get_api_tokens.sync(client=client))]
    good(delete_api_tokens_id.sync(token.id, client=client))


def assets(client):
    content = base64.b64encode(b"---\n").decode()
    assert good(post_api_storage_upload.sync(client=client, body=PostApiStorageUploadBody("walk.yml", content))).size == 4
    assert "walk.yml" in [asset.name for asset in good(get_api_storage_list.sync(client=client)).items]
    assert good(get_api_storage_fetch.sync(client=client, name="walk.yml")).content_b64 == content
    assert good(delete_api_storage_asset_name.sync("walk.yml", client=client)).deleted == "walk.yml"
    assert get_api_storage_fetch.sync_detailed(client=client, name="walk.yml").status_code == 404
    assert any(backend.active for backend in good(get_api_storage_backends.sync(client=client)).backends)


def deploy(client):
    machine = DeployRequest(region="us-east-1", instance_type="t3.small", image="ami-1", name="walk", workgroup="team")
    job_id = good(post_api_cloud1_deploy.sync(client=client, body=machine)).job_id
    assert good(get_api_jobs_id.sync(job_id, client=client)).name == "walk"
    assert job_id in [job.id for job in good(get_api_jobs.sync(client=client, page_size=5)).jobs]
    good(get_api_jobs_id_logs.sync(job_id, client=client))
    refused = post_api_cloud1_deploy.sync_detailed(client=client, body=DeployRequest(**{**machine.to_dict(), "region": "mars-1"}))
    assert refused.status_code == 403 and refused.parsed.detail.error == "policy"


def gate(client):
    assert any(rule.rule == "allowed_regions" and rule.evaluates for rule in good(get_api_settings_admission.sync(client=client)).rules)
    request = PostApiAdmissionCheckBodyRequest.from_dict({"region": "mars-1", "instance_type": "t3.small", "image": "ami-1", "name": "x"})
    decision = good(post_api_admission_check.sync(client=client, body=PostApiAdmissionCheckBody("cloud1:vm:deploy", request=request)))
    assert decision.verdict == "deny" and decision.rules[0].id == "allowed_regions"
    assert good(get_api_admission_decisions.sync(client=client, actor="root")).total >= 1


def windows(client):
    assert [window.name for window in good(get_api_change_windows.sync(client=client)).windows] == ["later"]
    assert "team" in [group.name for group in good(get_api_workgroups.sync(client=client))]


def settings(client):
    change = good(put_api_setup_config.sync(client=client, body=PutApiSetupConfigBody.from_dict({"walked": "yes"})))
    assert good(get_api_setup_config.sync(client=client)).additional_properties["walked"] == "yes"
    assert good(get_api_setup_config_history.sync(client=client, key="walked")).history[0].change_id == change.change_id


def audit(client):
    page = good(get_api_audit.sync(client=client, limit=5))
    assert len(page.entries) == 5
    assert good(get_api_audit_verify.sync(client=client)).ok is True
    assert good(get_api_audit_prove.sync(client=client, seq=1)).kind == "inclusion"
    assert good(get_api_doctor.sync(client=client)).checks


def main():
    client = sign_in(sys.argv[1])
    flows = ["sign in"]
    for flow in (accounts, tokens, assets, deploy, gate, windows, settings, audit):
        flow(client)
        flows.append(flow.__name__)
    print(json.dumps({"flows": flows}))


main()
