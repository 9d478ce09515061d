"""Hears webhooks over HTTP at an address of their own, apart from what monitoring systems ask: this one may face the
world, through a proxy that adds TLS.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Self

from syncd.config import Config, WebhooksConfig, WebhookSourceConfig, load_webhook_secrets
from syncd.daemon.hooks.matching import WakeableRepository
from syncd.daemon.hooks.receiver import BODY_BYTES_MAX, WebhookAnswer, WebhookReceiver, WebhookSource
from syncd.daemon.labels import name_repositories
from syncd.errors import ConfigInvalid, SyncdError
from syncd.net.page_server import serve_pages
from syncd.net.page_values import Acceptance, PageRequest, PageResponse, RefusedRequest, render_line
from syncd.net.signatures import SIGNING_PREFIX, is_usable_secret
from syncd.repo.repository import Repository

_ACCEPTED = Acceptance(is_any_host=True, is_any_origin=True, body_max=BODY_BYTES_MAX)


class WebhookListener:
    """Hears webhooks as a configuration says, which may change while it does; a context manager."""

    def __init__(
        self,
        wake: Callable[[WakeableRepository], object],
        report: Callable[[WebhookAnswer, int], None],
        notice: Callable[[str], None],
    ) -> None:
        """Listen nowhere yet.

        Shape: `wake` and `report` as for `WebhookReceiver`; `notice` gets the traceback of a defect.
        """
        self._notice = notice
        self.receiver = WebhookReceiver(wake, report)
        self._address, self._server = "", ExitStack()
        self.url = ""
        """Where it listens, as `http://ADDRESS:PORT`; "" where it does not."""

    def configure(
        self, address: str, sources: Sequence[WebhookSource], repositories: Sequence[WakeableRepository]
    ) -> None:
        """Hear these senders for these repositories at an address from now on; at "" nowhere.

        Raises: ConfigInvalid when the address is wrong or taken; then all stays as it was.
        """
        if address != self._address:
            self._listen_at(address)
        self.receiver.configure(sources, repositories)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def _listen_at(self, address: str) -> None:
        new = ExitStack()
        url = ""
        if address:
            refuse = self._note_refusal
            server = serve_pages(
                address,
                self._answer_webhook,
                self._notice,
                name="syncd-webhooks",
                accepts=_ACCEPTED,
                note_refusal=refuse,
            )
            url = new.enter_context(server).url
        self._server.close()
        self._server, self._address, self.url = new, address, url

    def _note_refusal(self, refused: RefusedRequest) -> None:
        self.receiver.note_refusal(refused.status, refused.reason)

    def _answer_webhook(self, request: PageRequest) -> PageResponse:
        answer = self.receiver.answer(request.method, request.path, request.headers, request.body)
        later = (("Retry-After", "60"),)
        headers = {405: (("Allow", "POST"),), 429: later, 503: later}.get(answer.status, ())
        response = render_line(answer.status, answer.text)
        return replace(response, body=b"" if answer.status == 204 else response.body, headers=headers)


def load_sources(webhooks: WebhooksConfig | None, environ: Mapping[str, str]) -> list[WebhookSource]:
    """Return the senders of a configuration with their secrets. Raises: ConfigInvalid."""
    return [_load_source(source, environ) for source in webhooks.source] if webhooks is not None else []


def build_wakeable(config: Config) -> Sequence[WakeableRepository]:
    """Return the repositories of a configuration as webhooks know them."""
    return [
        WakeableRepository(
            name,
            repository.path,
            frozenset(space.id for space in repository.space),
            repository.branch_names,
            repository.patterns,
            _build_finder(repository.path, repository.upstream.url, repository.upstream.remote)
            if repository.upstream is not None
            else lambda: "",
            config.webhooks.interval if config.webhooks is not None else 0.0,
        )
        for name, repository in zip(name_repositories(config), config.repository, strict=True)
    ]


def _build_finder(path: Path, url: str | None, remote: str) -> Callable[[], str]:
    known = [url] if url is not None else []

    def find() -> str:
        if not known:
            try:
                with Repository.open(path) as repository:
                    found = repository.find_remote_url(remote)
            except SyncdError:
                found = None
            if found is None:
                return ""  # it may be there with the next webhook
            known.append(found)
        return known[0]

    return find


def _load_source(source: WebhookSourceConfig, environ: Mapping[str, str]) -> WebhookSource:
    secrets = tuple(secret.get_secret_value() for secret in load_webhook_secrets(source, environ))
    if not all(is_usable_secret(source.kind, secret) for secret in secrets):
        what = f"webhooks.source {source.name} has a secret that begins with {SIGNING_PREFIX} and is no signing token"
        raise ConfigInvalid(what, hint="copy it from GitLab as it stands there")
    return WebhookSource(source.name, source.kind, secrets)
