"""A secret that a run prints in every way, and the search for any piece of it."""
import base64
import json
import urllib.parse

from support.automation import log

PLANTED = 'pl4nted secret/with+odd&signs="ü"4711'
PIECE = 6  # characters of it that may not be seen

LEAK = """- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg:
          - "clear {{ token }}"
          - "coded {{ token | b64encode }}"
          - "in JSON {{ token | to_json }} {{ token | to_json | to_json }}"
          - "quoted {{ token | urlencode }} {{ token | urlencode | replace('/', '%2F') }}"
    - ansible.builtin.debug:
        msg: "{{ 'x' * item }}{{ token }}"
      loop: "{{ range(4050, 4096, 3) | list }}"
    - ansible.builtin.fail:
        msg: "{{ 'y' * 985 }}{{ token }}"
"""


def check_hidden(http, job):
    """Returns the log. A piece of the secret, or of one of its forms, is in neither log nor job."""
    text = "\n".join(log(http, job["id"]))
    shown = json.dumps(job, ensure_ascii=False)
    quoted = (urllib.parse.quote(PLANTED, safe=""), urllib.parse.quote(PLANTED), urllib.parse.quote_plus(PLANTED))
    in_json = (json.dumps(PLANTED), json.dumps(json.dumps(PLANTED)))
    for form in (PLANTED, *quoted, *in_json, base64.b64encode(PLANTED.encode()).decode()):
        pieces = {form[at:at + PIECE] for at in range(len(form) - PIECE + 1)}
        seen = {piece for piece in pieces if piece in text or piece in shown}
        assert not seen, (seen, job["error_message"], [line for line in text.splitlines() if any(p in line for p in seen)][:3])
    return text


def check_leak_hidden(http, job):
    """Of a run of LEAK."""
    text = check_hidden(http, job)
    assert job["status"] == "failed" and "y" * 900 in job["error_message"], job
    assert all(f"{word} ********" in text for word in ("clear", "coded", "quoted")) and "x" * 4000 in text, text[:2000]
