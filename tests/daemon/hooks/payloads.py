"""Webhooks as the documentation of each sender shows them, signed: headers with names in lower case, and a body.

Sources: docs.github.com "Webhook events and payloads", push; docs.gitlab.com "Webhook events", push events;
docs.gitea.com "Webhooks"; the platform's own webhooks for space_content_updated.
"""

import json
from base64 import b64encode
from typing import Any

from syncd.net.signatures import sign_body, sign_standard, sign_webhook

SECRET = "0123456789abcdef0123456789abcdef"
SIGNING_TOKEN = "whsec_" + b64encode(bytes(range(32))).decode()
COMMIT, ZERO = "a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0", "0" * 40
Signed = tuple[dict[str, str], bytes]


def make_github(host: str = "github.com", path: str = "acme/docs", ref: str = "refs/heads/main", **more: Any) -> Signed:
    """A push as GitHub tells it."""
    owner, _, name = path.partition("/")
    body = {
        "ref": ref,
        "before": ZERO,
        "after": COMMIT,
        "repository": {
            "id": 186853002,
            "name": name,
            "full_name": path,
            "owner": {"name": owner, "login": owner, "url": f"https://api.{host}/users/{owner}"},
            "html_url": f"https://{host}/{path}",
            "url": f"https://{host}/{path}",
            "git_url": f"git://{host}/{path}.git",
            "ssh_url": f"git@{host}:{path}.git",
            "clone_url": f"https://{host}/{path}.git",
            "homepage": None,
            "default_branch": "main",
        },
        "pusher": {"name": "mona", "email": "mona@example.com"},
        "created": False,
        "deleted": False,
        "forced": False,
        "commits": [{"id": COMMIT, "message": "Say it better", "added": [], "removed": [], "modified": ["a.md"]}],
        **more,
    }
    return sign_github(json.dumps(body).encode())


def sign_github(body: bytes, event: str = "push", secret: str = SECRET) -> Signed:
    """Any body as GitHub sends it."""
    headers = {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/044aadd",
        "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "x-github-event": event,
        "x-github-hook-id": "292430182",
        "x-hub-signature": "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6",
        "x-hub-signature-256": f"sha256={sign_body(secret, body)}",
    }
    return headers, body


def make_gitlab(ref: str = "refs/heads/main", *, kind: str = "push", signed_at: int | None = None) -> Signed:
    """A push as GitLab tells it, with a secret token, or signed."""
    project = {
        "id": 15,
        "name": "Docs",
        "web_url": "https://gitlab.example.com/acme/docs",
        "git_ssh_url": "git@gitlab.example.com:acme/docs.git",
        "git_http_url": "https://gitlab.example.com/acme/docs.git",
        "path_with_namespace": "acme/docs",
        "default_branch": "main",
    }
    repository = {"name": "Docs", "url": project["git_ssh_url"], "homepage": project["web_url"]}
    document = {"object_kind": kind, "event_name": kind, "before": ZERO, "after": COMMIT, "ref": ref}
    body = json.dumps(document | {"user_name": "Jo", "project": project, "repository": repository, "commits": []})
    headers = {
        "content-type": "application/json",
        "x-gitlab-event": "Push Hook" if kind == "push" else "Tag Push Hook",
        "x-gitlab-instance": "https://gitlab.example.com",
        "x-gitlab-event-uuid": "13792a34-cac6-4fda-95a8-c58e00a3954e",
        "idempotency-key": "f5e5f430-f57b-4e6e-9fac-d9128cd7232f",
    }
    if signed_at is None:
        return headers | {"x-gitlab-token": SECRET}, body.encode()
    id = headers["idempotency-key"]
    signature = sign_standard(SIGNING_TOKEN, id, signed_at, body.encode())
    signed = {"webhook-id": id, "webhook-timestamp": str(signed_at), "webhook-signature": signature}
    return headers | signed, body.encode()


def make_gitea(ref: str = "refs/heads/main") -> Signed:
    """A push as Gitea tells it."""
    repository = {
        "id": 140,
        "name": "docs",
        "full_name": "acme/docs",
        "html_url": "https://git.example.com/acme/docs",
        "ssh_url": "ssh://gitea@git.example.com:2222/acme/docs.git",
        "clone_url": "https://git.example.com/acme/docs.git",
        "website": "",
        "default_branch": "main",
    }
    document = {"ref": ref, "before": ZERO, "after": COMMIT, "commits": [], "repository": repository}
    body = json.dumps(document, indent=2).encode()
    headers = {"content-type": "application/json"}
    for brand in ("gitea", "gogs", "github"):
        headers |= {f"x-{brand}-delivery": "f6266f16-1bf3-46a5-9ea4-602e06ead473", f"x-{brand}-event": "push"}
    digest = sign_body(SECRET, body)
    return headers | {"x-gitea-signature": digest, "x-hub-signature-256": f"sha256={digest}"}, body


def make_platform(space: str, moment: int, type: str = "space_content_updated") -> Signed:
    """A webhook of the platform."""
    document = {"eventId": "evt_1", "type": type, "installationId": "ins_1", "spaceId": space, "revisionId": "rev_1"}
    body = json.dumps(document).encode()
    signature = sign_webhook(SECRET, moment, body)
    return {"content-type": "application/json", "x-gitbook-signature": signature}, body
