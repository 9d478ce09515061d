"""Put a built site on a branch of the Git remote: one commit with what differs, on top of what is there.

The branch has the site's manifest, by which the next commit knows what of the branch syncd made: only that is replaced
or removed. A run that is killed after its push finds the site there, and makes no second commit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from syncd.errors import ConfigInvalid, Conflict, Unreachable
from syncd.layout.tree.built_sites import MANIFEST
from syncd.repo.remote.remote import Refusal
from syncd.repo.values import Blob
from syncd.sync.integrate.upstream import Exchange, build_push_error
from syncd.sync.outcome import Outcome, Unchanged
from syncd.sync.publish.output import (
    BuildManifest,
    find_stranger,
    format_manifest,
    parse_manifest,
    read_manifest,
)

COMMIT_REF = "refs/syncd/site/"
"""Below this, by branch, is the last commit that was made for it."""


def find_published_commit(exchange: Exchange, branch: str) -> str | None:
    """Return the commit that is published on the branch, if it is the one that was pushed last from here."""
    upstream, heads = exchange.workspace.upstream, exchange.remote_heads
    if upstream is None or heads is None:
        return None
    there = heads.get(branch)
    return there if there == exchange.repository.resolve(upstream.last_seen_ref(branch)) else None


def push_site(exchange: Exchange, branch: str, top: Path, source: str) -> Outcome:
    """Push what was built into a directory to a branch of the upstream; nothing where that has it already.

    Shape: `source` is the commit that was built. Raises: ConfigInvalid when the branch is used for something else;
    RefMoved when somebody pushed meanwhile; PathRefused, PlatformError, GitFailed.
    """
    repository, upstream = exchange.repository, exchange.workspace.upstream
    if upstream is None or exchange.remote_heads is None:
        raise Unreachable("the upstream could not be asked, so the site stays as it is there")
    existing = exchange.remote_heads.get(branch)
    listing = repository.list_files(existing) if existing is not None else {}
    before = _read_branch_manifest(exchange, f"{upstream.name}/{branch}", listing)
    after = {**read_manifest(top).files, MANIFEST: ""}
    # Where somebody else pushed, or a run was killed before it could record its push, nothing is taken for known.
    known = before if existing is not None and find_published_commit(exchange, branch) == existing else {}
    put = [path for path, digest in after.items() if known.get(path) != digest]
    gone = sorted((before.keys() - after.keys()) & listing.keys())
    if put == [MANIFEST] and not gone:
        return Unchanged()
    _refuse_foreign(f"{upstream.name}/{branch}", put, before, listing)
    commit = _write_site_commit(exchange, branch, existing, _BranchFiles(top, sorted(put), gone, after), source)
    if existing is not None and repository.find_tree(existing) == repository.find_tree(commit):
        exchange.record_last_seen(upstream, branch, existing)
        return Unchanged()
    with exchange.open_remote(upstream) as remote:
        refusal = remote.push(commit, branch, old=existing)
    if refusal is not None:
        raise _build_push_refusal(f"{upstream.name}/{branch}", refusal)
    return exchange.record_push(upstream, branch, branch, commit)


@dataclass(frozen=True)
class _BranchFiles:
    """The files of a site to put and to remove, from the directory that they were built into."""

    top: Path
    put: Sequence[str]
    gone: Sequence[str]
    digests: Mapping[str, str]

    def read(self, path: str) -> bytes:
        """Return a file; the manifest has only what a later commit needs to know."""
        if path == MANIFEST:
            digests = {name: digest for name, digest in self.digests.items() if name != MANIFEST}
            return format_manifest(BuildManifest(digests))
        return (self.top / path).read_bytes()


def _read_branch_manifest(exchange: Exchange, where: str, listing: Mapping[str, Blob]) -> Mapping[str, str]:
    """The files that syncd made on a branch, each with its digest. Raises: ConfigInvalid for a branch of others."""
    blob = listing.get(MANIFEST)
    manifest = parse_manifest(exchange.repository.read(blob.oid)) if blob is not None else None
    if manifest is not None:
        return {**manifest.files, MANIFEST: ""}
    if stranger := find_stranger({path.partition("/")[0] for path in listing}):
        raise ConfigInvalid(
            f"{where} has {stranger}, and syncd did not make it; the branch is left alone",
            hint="name a branch that is there for the site alone, in branch of [repository.site.publish]",
        )
    return {}


def _refuse_foreign(where: str, put: Sequence[str], before: Mapping[str, str], listing: Mapping[str, Blob]) -> None:
    """Refuse to replace what somebody else put on the branch."""
    others = {path for path in listing if path not in before}
    folders = {path[:at] for path in others for at, sign in enumerate(path) if sign == "/"} if others else set()
    for path in put:
        above = {path[:at] for at, sign in enumerate(path) if sign == "/"}
        if path in others or path in folders or above & others:
            raise ConfigInvalid(
                f"{where} has {path}, and syncd did not make it", hint="take it off the branch, or name another branch"
            )


def _write_site_commit(exchange: Exchange, branch: str, existing: str | None, files: _BranchFiles, source: str) -> str:
    """Write the commit, which a ref of our own keeps until it is pushed."""
    workspace, ref = exchange.workspace, f"{COMMIT_REF}{branch}"
    committer = workspace.committer()
    with exchange.repository.open_writer(ref, old=exchange.repository.resolve(ref)) as writer:
        for path in files.gone:
            writer.remove(path)
        for path in files.put:
            writer.put(path, writer.write_blob(files.read(path)))
        return writer.commit(
            message=f"Publish the site\n\nIt was built from {source}.\n",
            author=committer,
            committer=committer,
            parents=[existing] if existing is not None else [],
            base=existing,
        )


def _build_push_refusal(where: str, refusal: Refusal) -> Conflict:
    hint = "allow it there, or name another branch for the site"
    return build_push_error(f"{where} was not taken", refusal, hint=hint)
