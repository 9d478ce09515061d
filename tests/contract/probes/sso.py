"""SAML providers, and the ways to sign in that they make."""

import base64
import datetime
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.contract.probe import Ask, probe
from tests.contract.world import World

_WHOLE = {"ssoURL": "https://id.example.com/sso", "entityID": "https://id.example.com"}


@cache
def certificate(*, days: int = 3650) -> str:
    """Return a self-signed certificate as PEM that is valid until so many days from now; negative: it has expired."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "id.example.com")])
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=4000))
    built = builder.not_valid_after(now + datetime.timedelta(days=days)).sign(key, hashes.SHA256())
    return built.public_bytes(serialization.Encoding.PEM).decode()


def bare(pem: str) -> str:
    """Given PEM, return the base64 text within it, on one line."""
    return "".join(pem.splitlines()[1:-1])


def _provider(world: World, label: str = "Sign in") -> dict[str, Any]:
    body = {"label": label, "certificate": certificate(), **_WHOLE}
    return dict(world.made("createOrganizationSAMLProvider", body=body))


def _wrong() -> list[Any]:
    certificates = (
        certificate(days=-1),
        "not a certificate",
        base64.b64encode(b"not a certificate").decode(),
        certificate() * 2,
        "x" * 10_001,
        certificate().replace("CERTIFICATE", "PRIVATE KEY"),
        "",
        "\u00e9",
    )
    return [
        *({"label": label} for label in ("", "x" * 31, None, 7, "\n")),
        *({"label": "L", "ssoURL": url} for url in ("http://a.example", "javascript:a", "https://", "", 7)),
        {"label": "L", "ssoURL": "https://example.com/" + "x" * 2048},
        {"label": "L", "entityID": "x" * 1025},
        *({"label": "L", "certificate": text} for text in certificates),
        {"label": "L", "defaultTeam": "nothing"},
        {"label": "L", "defaultRole": "owner"},
    ]


@probe("listSAMLProvidersInOrganizationById")
def probe_list_saml_providers_in_organization_by_id(world: World) -> Ask:
    for number in range(3):
        _provider(world, f"Sign in {number}")
    return Ask(items=3)


@probe("createOrganizationSAMLProvider")
def probe_create_organization_saml_provider(world: World) -> Ask:
    team = world.made("createOrganizationTeam", body={"title": "Writers"})
    body = {
        "label": "Sign in",
        "certificate": bare(certificate()),
        "defaultTeam": team["id"],
        "defaultRole": "edit",
        **_WHOLE,
    }

    def check(answer: Any) -> None:
        assert answer["certificate"] == certificate()
        assert answer["defaultTeam"] == team
        assert answer["status"] == "active"

    return Ask(body=body, status=201, invalid=({}, *_wrong()), check=check)


@probe("getOrganizationSAMLProviderById")
def probe_get_organization_saml_provider_by_id(world: World) -> Ask:
    return Ask({"samlProviderId": _provider(world)["id"]})


@probe("updateOrganizationSAMLProvider")
def probe_update_organization_saml_provider(world: World) -> Ask:
    pending = world.made("createOrganizationSAMLProvider", body={"label": "Later"})
    assert pending["status"] == "pending"
    body = {"label": "Now", "certificate": certificate(), "defaultRole": None, **_WHOLE}
    nulls = ({name: None} for name in ("certificate", "ssoURL", "entityID", "defaultTeam"))

    def check(answer: Any) -> None:
        assert answer["status"] == "active"

    return Ask({"samlProviderId": pending["id"]}, body=body, invalid=(*nulls, *_wrong()), check=check)


@probe("deleteOrganizationSAMLProvider")
def probe_delete_organization_saml_provider(world: World) -> Ask:
    return Ask({"samlProviderId": _provider(world)["id"]}, status=204)


@probe("listSSOProviderLoginsInOrganization")
def probe_list_sso_provider_logins_in_organization(world: World) -> Ask:
    made = _provider(world)
    world.made("createOrganizationSAMLProvider", body={"label": "Pending"})
    wanted = {"id": made["id"], "label": "Sign in", "startURL": made["service"]["startURL"]}

    def check(answer: Any) -> None:
        assert answer == {"items": [wanted]}

    return Ask(check=check)
