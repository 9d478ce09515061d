"""Lines of the manual that no player of tests/manual types: what else types them, or why nothing can."""

IN_FRONT = "it stays in the foreground: the test starts it, at a free port"
SERVE = {"syncd platform serve --data platform-data": IN_FRONT}
ELSEWHERE = "tests/cli/sync/test_cli_git_import.py types it, with the Git host of https that it takes"
WAITING = "tests/fleet/test_fleet_plans.py types it, with a worker that holds a plan of a site"
NO_DATABASE = "the machines of tests/service have no PostgreSQL"
NOT_TYPED: dict[str, dict[str, str]] = {
    "how-to/ci/README.md": {
        "python3 -m venv .venv && .venv/bin/pip install --quiet --editable '.[test]'": (
            "it asks an index of packages; it is how the environment of the tests was made"
        ),
        ".venv/bin/nox -s bundle": "tests/packaging/conftest.py carries it out, with a copy of the source",
    },
    "how-to/git-import.md": dict.fromkeys(("syncd status", "syncd push"), ELSEWHERE),
    "how-to/fleet.md": {
        "syncd fleet pending": WAITING,
        'syncd fleet approve 3f2a9c --comment "the old section may go"': WAITING,
        "syncd example syncd-worker@.service | sudo tee /etc/systemd/system/syncd-worker@.service": (
            "the machines of tests/service have no PostgreSQL; test_service_units.py gives the unit to systemd"
        ),
        "sudo systemctl daemon-reload": NO_DATABASE,
        "sudo systemctl enable --now syncd-worker@1": NO_DATABASE,
    },
    "how-to/status-page.md": {
        "ssh -L 9471:127.0.0.1:9471 server.example.org": "it is a log-in at another machine",
    },
    "how-to/upstream.md": {
        "sudo -u syncd git clone --bare https://git.example.org/team/docs.git /srv/docs/docs.git": (
            "it is a line of how-to/service.md, too, and tests/service types it there"
        ),
    },
    "tutorials/writer.md": {"syncd demo": "the next block types it with --keep", **SERVE},
    "tutorials/site-owner.md": SERVE,
    "tutorials/team-service.md": SERVE,
    "tutorials/jobs.md": SERVE,
}
"""Why no test types a line, by page and line."""

TYPED_ELSEWHERE = {
    ("how-to/backup.md", "Back up a repository"): "cli/platform/test_cli_platform_backup.py",
    ("how-to/backup.md", "Restore a repository"): "cli/platform/test_cli_platform_backup.py",
    ("how-to/backup.md", "Back up the embedded platform"): "cli/platform/test_cli_platform_backup.py",
    ("how-to/backup.md", "Restore the embedded platform"): "cli/platform/test_cli_platform_backup.py",
    ("how-to/backup.md", "Upgrade"): "service/test_service_daemon.py",
    ("how-to/service.md", "Install it on a server"): "service/server.py",
    ("how-to/service.md", "With systemd"): "service/server.py",
    ("how-to/service.md", "In one step"): "service/test_service_install.py",
    ("how-to/service.md", "A service for each repository"): "service/test_service_instance.py",
    ("how-to/service.md", "When something is wrong"): "service/test_service_daemon.py",
    ("how-to/service.md", "Signals"): "service/test_service_daemon.py",
    ("how-to/embedded-platform.md", "With systemd"): "service/server.py",
}
"""Sections whose lines the tests of another file read from the manual and carry out, by page and title."""
