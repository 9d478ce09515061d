"""Organization (`organization`): the owner of spaces, sites, teams and members."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictBool

from syncd.model.base import Declared, Nullable, Observed, ObservedId
from syncd.model.merge_rules import MergeRules, NoRules, ObservedMergeRules
from syncd.model.role import Role
from syncd.model.subdomain import Hostname
from syncd.model.web_address import WebAddress

DOMAINS_MAX = 100
"""Domains of one organization; the document names no limit."""

_DOMAIN = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])\Z")


def _domain(text: str) -> str:
    lower = text.lower()
    if not _DOMAIN.match(lower):
        raise ValueError("must be a domain such as example.com")
    return lower


def _check_trimmed(text: str) -> str:
    if text != text.strip() or not text.isprintable():
        raise ValueError("must be printable and neither begin nor end with a space")
    return text


EmailDomain = Annotated[str, Field(max_length=253), AfterValidator(_domain)]
Title = Annotated[str, Field(min_length=2, max_length=255), AfterValidator(_check_trimmed)]
"""Source: API document, Limits; @gitbook/api 0.202.0 for the spaces."""


class DefaultContent(Declared):
    """What an organization shows first."""

    type: Literal["site"]
    site: Annotated[str, Field(min_length=1, max_length=100)]


class OrganizationUpdate(Declared):
    """Body of `PATCH /orgs/{organizationId}`: unset is unchanged."""

    title: Title = "--"
    email_domains: Annotated[tuple[EmailDomain, ...], Field(max_length=DOMAINS_MAX)] = ()
    hostname: Hostname = "---"
    default_role: Nullable[Role] = None
    default_content: Nullable[DefaultContent] = None
    logo: Nullable[WebAddress] = None
    sso: StrictBool = False
    ai: StrictBool = False
    invite_links: StrictBool = False
    merge_rules: MergeRules = NoRules(type="inherit")


class OrganizationCreate(Declared):
    """Body of `POST /orgs` (beyond the API document: @gitbook/api 0.202.0)."""

    title: Title
    email_domains: Annotated[tuple[EmailDomain, ...], Field(max_length=DOMAINS_MAX)] = ()


class Price(Observed):
    """What something costs. Units: the currency of the account."""

    monthly: float
    yearly: float


class Pricing(Observed):
    """Prices by what is paid for, and by plan or type."""

    members: dict[str, Price] = {}
    sites: dict[str, Price] = {}


class UsageAddon(Observed):
    """Whether something that is paid by its use is on."""

    enabled: bool


class Billing(Observed):
    """How an organization pays; shown to those who may see it."""

    interval: str | None = None
    end_date: str | None = None
    has_payment_failed: bool | None = None
    can_checkout: bool | None = None
    is_scheduled_to_cancel: bool | None = None
    pricing: Pricing | None = None
    usage_addons: dict[str, UsageAddon] = {}
    can_change_interval: bool | None = None
    can_use_saml: bool | None = Field(default=None, alias="canUseSAML")
    credits_bundle: Nullable[str] = None
    ai_credit_alert_threshold: Nullable[float] = None


class Trial(Observed):
    """Whether an organization tries a plan out."""

    status: str
    count: int | None = None
    end_date: str | None = None
    decision: str | None = None


class Blocked(Observed):
    """Why an organization can do nothing at present."""

    source: str
    reason: str | None = None


class BillingMigration(Observed):
    """When an organization has to choose a newer plan."""

    deadline: str | None = None
    discount_percent: float | None = None
    discount_end_date: str | None = None


class ObservedDefaultContent(Observed):
    """What an organization shows first, as the platform says it."""

    type: str
    site: ObservedId | None = None


class Organization(Observed):
    """The owner of spaces and sites. Source: API document, Organization."""

    object: str = "organization"
    id: ObservedId
    title: str
    created_at: str | None = None
    email_domains: tuple[str, ...] = ()
    hostname: str | None = None
    type: str | None = None
    use_case: str | None = None
    community_type: str | None = None
    default_role: Nullable[str] = None
    default_content: ObservedDefaultContent | None = None
    sso: bool | None = None
    ai: bool | None = None
    invite_links: bool | None = None
    plan: str | None = None
    billing: Billing | None = None
    merge_rules: ObservedMergeRules | None = None
    urls: dict[str, str] = {}
    trial: Trial | None = None
    custom_hostname: str | None = None
    blocked: Blocked | None = None
    internal_billing_migration: BillingMigration | None = Field(default=None, alias="internal_billingMigration")
    permissions: dict[str, bool] = {}
