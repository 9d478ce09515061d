"""What a listener of webhooks knows of the repositories of a configuration."""

import subprocess
from pathlib import Path

from syncd.config import load
from syncd.daemon.hooks.listener import build_wakeable


def test_a_remote_that_is_added_later_is_found_with_the_next_webhook(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "docs"], check=True)
    file = tmp_path / "config.toml"
    file.write_text(
        '[platform]\nurl = "https://platform.example"\n[[repository]]\npath = "docs"\n'
        '[repository.upstream]\n[[repository.space]]\nid = "s1"\n'
    )
    (docs,) = build_wakeable(load(file))
    assert docs.find_address() == ""
    address = "https://git.example.com/acme/docs"
    subprocess.run(["git", "-C", tmp_path / "docs", "remote", "add", "origin", address], check=True)
    assert docs.find_address() == address
