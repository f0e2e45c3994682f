"""A double of a Windows host with WinRM over TLS: the messages of MS-WSMV that a shell needs, and the logins NTLM and Basic. It
runs nothing: it keeps the files that it gets, notes each command, and answers as PowerShell would. Its test lets pywinrm, the
client that ansible uses, prove it first. For ansible's interpreter, which has pyspnego.

    winrm_double.py FOLDER LOGIN...   certificate and key in FOLDER/winrm.pem and winrm.key; USER and PASSWORD in its environment;
                                      prints the port; notes what happened in FOLDER/calls, a JSON line each
"""
import base64
import hashlib
import http.server
import json
import os
import re
import ssl
import sys
import uuid
import xml.etree.ElementTree as ET
from pathlib import Path

import spnego

FOLDER, LOGINS = Path(sys.argv[1]), sys.argv[2:]
USER, PASSWORD = os.environ["USER"], os.environ["PASSWORD"]
SHELL = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell"
ENVELOPE = """<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing"
 xmlns:w="http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd" xmlns:rsp="%s"><s:Header><a:RelatesTo>%%s</a:RelatesTo></s:Header>
 <s:Body>%%s</s:Body></s:Envelope>""" % SHELL
TEMPORARY = r"C:\Users\ops\AppData\Local\Temp\ansible-tmp-1"


def note(**call):
    with open(FOLDER / "calls", "a", encoding="utf-8") as file:
        file.write(json.dumps(call) + "\n")


def opened(text):
    """The text and what it holds in base64, as the manifests of ansible hold scripts."""
    for piece in re.findall(r"[A-Za-z0-9+/]{40,}={0,2}", text):
        try:
            text += "\n" + base64.b64decode(piece).decode()
        except ValueError:
            pass
    return text


def decoded_script(words):
    found = re.search(r"-EncodedCommand\s+(\S+)", words)
    return base64.b64decode(found.group(1)).decode("utf-16-le") if found else words


class Command:
    """One command of a shell; the input ends before the answer is asked for."""
    commands = {}
    files = {}

    def __init__(self, words):
        self.script, self.input = decoded_script(words), b""
        self.commands[str(uuid.uuid5(uuid.NAMESPACE_OID, str(len(self.commands))))] = self

    @classmethod
    def add(cls, words):
        cls(words)
        return list(cls.commands)[-1]

    def answer(self):
        said = self.script + self.input.decode(errors="replace")
        if "winrm_put_file" in said or ("FromBase64String" in said and "sha1" in said.lower() and "mkdtemp" not in said):
            return self.take_file(said)
        if "mkdtemp" in said or "New-Item -Type Directory" in said:
            return TEMPORARY + "\r\n"
        for path, content in self.files.items():
            if path in opened(said).replace("\\\\", "\\"):
                note(run=path, content=content.decode())
                return f"ran {path}\r\n"
        if "Remove-Item" in self.script:
            return ""
        note(command=self.script)
        return f"{self.script}\r\n"

    def take_file(self, said):
        lines = self.input.split(b"\n\0\0\0\0\n")[-1].split()
        content = b"".join(map(base64.b64decode, lines))
        path = re.search(r"C:(?:\\{1,2}[\w.-]+)+", said[said.index("ansible-tmp") - 200:] if "ansible-tmp" in said else said).group(0)
        self.files[path.replace("\\\\", "\\")] = content
        return json.dumps({"sha1": hashlib.sha1(content).hexdigest()})


def body_of(action, body, message):
    if action.endswith("/Create"):
        return f"<rsp:Shell><w:Selector Name='ShellId'>{uuid.uuid4()}</w:Selector></rsp:Shell>"
    if action.endswith("/Command"):
        words = [node.text or "" for tag in ("Command", "Arguments") for node in body.iter(f"{{{SHELL}}}{tag}")]
        return f"<rsp:CommandResponse><rsp:CommandId>{Command.add(' '.join(words))}</rsp:CommandId></rsp:CommandResponse>"
    if action.endswith("/Send"):
        stream = next(body.iter(f"{{{SHELL}}}Stream"))
        Command.commands[stream.get("CommandId")].input += base64.b64decode(stream.text or "")
        return "<rsp:SendResponse/>"
    if action.endswith("/Receive"):
        key = next(body.iter(f"{{{SHELL}}}DesiredStream")).get("CommandId")
        out = base64.b64encode(Command.commands[key].answer().encode()).decode()
        return (f"<rsp:ReceiveResponse><rsp:Stream Name='stdout' CommandId='{key}'>{out}</rsp:Stream><rsp:CommandState CommandId='{key}' "
                f"State='{SHELL}/CommandState/Done'><rsp:ExitCode>0</rsp:ExitCode></rsp:CommandState></rsp:ReceiveResponse>")
    if action.endswith(("/Signal", "/Delete")):
        return ""
    raise ValueError(f"{action} of {message}")


class Host(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    login = None  # of the connection, as NTLM has it

    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.is_logged_in():
            return None
        if b"Identify" in text:
            return self.reply(200, b"<s:Envelope xmlns:s='x'><s:Body><IdentifyResponse/></s:Body></s:Envelope>")
        envelope = ET.fromstring(text)
        header = {node.tag.split("}")[1]: node.text for node in envelope[0]}
        answer = body_of(header["Action"], envelope[1], header["MessageID"])
        return self.reply(200, (ENVELOPE % (header["MessageID"], answer)).encode())

    def is_logged_in(self):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        offer = {"ntlm": "NTLM", "basic": "Basic"}
        if self.login == "done":
            return True
        if scheme == "Basic" and "basic" in LOGINS:
            if base64.b64decode(token).decode() == f"{USER}:{PASSWORD}":
                note(login="basic")
                return True
        elif scheme in ("NTLM", "Negotiate") and "ntlm" in LOGINS:
            try:
                self.login = self.login or spnego.server(protocol="ntlm")
                challenge = self.login.step(base64.b64decode(token))
                if self.login.complete:
                    self.login = "done"
                    note(login="ntlm")
                    return True
                self.reply(401, b"", {"WWW-Authenticate": f"{scheme} {base64.b64encode(challenge).decode()}"})
                return False
            except spnego.exceptions.SpnegoError:
                self.login = None
        self.reply(401, b"", {"WWW-Authenticate": ", ".join(offer[name] for name in LOGINS)})
        return False

    def reply(self, status, body, headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/soap+xml;charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


(FOLDER / "users").write_text(f":{USER}:{PASSWORD}\n", encoding="utf-8")
os.environ["NTLM_USER_FILE"] = str(FOLDER / "users")
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(FOLDER / "winrm.pem", FOLDER / "winrm.key")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
