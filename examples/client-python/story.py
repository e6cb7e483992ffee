"""Shows the client. The server and its credentials come from WEFT_URL, WEFT_API_KEY and WEFT_AUTH_TOKEN."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time

from weft import WebhookRejectedError, Weft, WeftError, verify_webhook

weft = Weft(
    os.environ.get("WEFT_URL", "http://localhost:8787"),
    os.environ["WEFT_API_KEY"],
    os.environ["WEFT_AUTH_TOKEN"],
)
organization_id = f"python-{time.time_ns()}"
editor = {"organizationId": organization_id, "documentId": "plan", "editorId": "main"}

weft.workspace.feed.update({"enabled": True})
cursor = weft.feed.get({"from": "now"})["cursor"]

weft.crdt.add({**editor, "type": "text", "data": "Launch on Monday."})
[read] = weft.crdt.get(editor)
print(f"- the document contains {read['data']!r} at version {read['version']}")

weft.crdt.update({**editor, "type": "text", "data": "Launch on Tuesday.", "ifVersion": read["version"]})
try:
    weft.crdt.update({**editor, "type": "text", "data": "", "ifVersion": read["version"]})
    raise AssertionError("the server accepted an old version")
except WeftError as error:
    assert error.code == "crdt/version-conflict", error
    print(f"- a write with the old version is rejected: {error.message}")

names = [{"documentId": f"page-{number}", "documentName": f"Page {number}"} for number in range(5)]
weft.organizations.documents.add({"organizationId": organization_id, "documents": names})
pages = weft.organizations.documents.get_items({"organizationId": organization_id, "pageSize": 2})
count = sum(1 for _ in pages)
assert count == 6, count
print(f"- the organization has {count} documents, on several pages")

for event in weft.feed_events({"cursor": cursor, "organizationId": organization_id, "types": ["document.create"]}):
    print(f"- the change feed has {event['type']} of the document {event['documentId']!r}")
    break

key = base64.b64encode(b"x" * 32).decode()
body = json.dumps({"event": "document.create"}).encode()
sent_at = str(int(time.time()))
mac = hmac.new(b"x" * 32, f"msg_1.{sent_at}.".encode() + body, hashlib.sha256).digest()
headers = {
    "Webhook-Id": "msg_1",
    "Webhook-Timestamp": sent_at,
    "Webhook-Signature": f"v1,{base64.b64encode(mac).decode()}",
}
assert verify_webhook(body, headers, f"whsec_{key}") == {"event": "document.create"}
try:
    verify_webhook(body + b" ", headers, f"whsec_{key}")
    raise AssertionError("a changed body was accepted")
except WebhookRejectedError as error:
    print(f"- a webhook with a changed body is rejected: {error}")

weft.organizations.delete({"organizationIds": [organization_id]})
print("- the organization is deleted, with everything in it")
