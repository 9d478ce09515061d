"""The tables of a fleet, beside those of the job queue."""

from typing import LiteralString

VERSION = 1
"""Of the tables; a newer one is not written to."""
STEP = 6
"""Of what was added to them since; an older syncd passes it over, so that workers can be upgraded one by one."""

MAKE_TABLES: LiteralString = """
CREATE TABLE syncd_fleet (
    version integer NOT NULL,
    state_ref text NOT NULL,
    secret text NOT NULL
);
CREATE TABLE syncd_fleet_repositories (
    name text PRIMARY KEY,
    platform jsonb NOT NULL,
    document jsonb NOT NULL,
    seconds double precision NOT NULL,
    priority integer NOT NULL DEFAULT 0,
    token_key text NOT NULL DEFAULT '',
    due_at timestamptz NOT NULL DEFAULT now(),
    woken_at timestamptz,
    failures integer NOT NULL DEFAULT 0,
    last_worker text NOT NULL DEFAULT '',
    last_fence bigint NOT NULL DEFAULT 0,
    ended_at timestamptz,
    records jsonb NOT NULL DEFAULT '[]'
);
CREATE INDEX syncd_fleet_due ON syncd_fleet_repositories (due_at);
CREATE TABLE syncd_fleet_leases (
    repository text PRIMARY KEY REFERENCES syncd_fleet_repositories (name) ON DELETE CASCADE,
    worker text NOT NULL,
    fence bigint NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE TABLE syncd_fleet_limits (
    token_key text PRIMARY KEY,
    until timestamptz NOT NULL
);
CREATE TABLE syncd_fleet_workers (
    name text PRIMARY KEY,
    host text NOT NULL,
    version text NOT NULL,
    jobs integer NOT NULL,
    is_draining boolean NOT NULL DEFAULT false,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    running integer NOT NULL DEFAULT 0,
    runs bigint NOT NULL DEFAULT 0,
    failed_runs bigint NOT NULL DEFAULT 0,
    lost_leases bigint NOT NULL DEFAULT 0,
    cached integer NOT NULL DEFAULT 0,
    cache_bytes bigint NOT NULL DEFAULT 0
);
"""

ADD_NEW: LiteralString = """
ALTER TABLE syncd_fleet
    ADD COLUMN IF NOT EXISTS step integer NOT NULL DEFAULT 0;
ALTER TABLE syncd_fleet_repositories
    ADD COLUMN IF NOT EXISTS webhooks jsonb,
    ADD COLUMN IF NOT EXISTS notifications jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS incidents jsonb,
    ADD COLUMN IF NOT EXISTS changed_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN IF NOT EXISTS begun_at timestamptz,
    ADD COLUMN IF NOT EXISTS report jsonb,
    ADD COLUMN IF NOT EXISTS is_active boolean NOT NULL DEFAULT false;
CREATE TABLE IF NOT EXISTS syncd_fleet_notifications (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repository text NOT NULL REFERENCES syncd_fleet_repositories (name) ON DELETE CASCADE,
    target text NOT NULL,
    document jsonb NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    not_before timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS syncd_fleet_windows (
    token_key text NOT NULL,
    method text NOT NULL,
    ends_at timestamptz NOT NULL,
    remaining double precision NOT NULL,
    PRIMARY KEY (token_key, method)
);
CREATE TABLE IF NOT EXISTS syncd_fleet_plans (
    repository text NOT NULL REFERENCES syncd_fleet_repositories (name) ON DELETE CASCADE,
    site text NOT NULL,
    digest text NOT NULL,
    file text NOT NULL,
    document text NOT NULL,
    at text NOT NULL,
    approved_at timestamptz,
    comment text NOT NULL DEFAULT '',
    PRIMARY KEY (repository, site, digest)
);
CREATE INDEX IF NOT EXISTS syncd_fleet_told ON syncd_fleet_notifications (repository, target, number);
CREATE SEQUENCE IF NOT EXISTS syncd_fleet_fences;
SELECT setval('syncd_fleet_fences', (SELECT 1 + greatest(
    (SELECT max(last_fence) FROM syncd_fleet_repositories), (SELECT max(fence) FROM syncd_fleet_leases), 0)), false);
"""
