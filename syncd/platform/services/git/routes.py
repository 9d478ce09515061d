"""`/spaces/{spaceId}/git/…`: ask for an import or an export, and look what became of it."""

from fastapi import Depends
from fastapi.responses import JSONResponse, Response

from syncd.model.git_sync import GitExport, GitImport, GitInfo, GitTransfer
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role
from syncd.platform.services.git import operations
from syncd.platform.services.git.endpoints import check_reachable, split_credentials
from syncd.platform.services.git.transfer import keep_credentials
from syncd.platform.settings import CurrentSettings, PlatformSettings
from syncd.platform.spaces.spaces import require_space
from syncd.platform.storage.storage import CurrentStorage, Storage

router = create_router(tags=["git"])


class GitImportNew(RequestBody, GitImport):
    """Body of `POST /spaces/{spaceId}/git/import`."""


class GitExportNew(RequestBody, GitExport):
    """Body of `POST /spaces/{spaceId}/git/export`."""


async def _require_git(caller: CurrentCaller, settings: CurrentSettings) -> None:
    if settings.git_host is None:
        # Word for word what a platform answers that has no such route.
        raise Failure(404, "Not Found")


_GIT = [Depends(_require_git)]


@router.get("/spaces/{space_id}/git/info", response_model=GitInfo, openapi_extra=declare_role("read", extension=True))
def get_space_git_info(storage: CurrentStorage, caller: CurrentCaller, space_id: str) -> JSONResponse:
    """Return what became of a space's last import or export. Raises: Failure 404 when there never was one."""
    with storage.read() as connection:
        require_space(connection, caller, space_id)
        row = operations.find_last_operation(connection, space_id)
    if row is None:
        raise Failure(404, f"Space {space_id} was never imported from Git or exported to it.")
    return answers.ok(operations.serialize_info(storage, row))


# Main content changes without a review, and the platform speaks to another server: as in the product, administrators
# may ask for that (permission `triggerGitSync`).
@router.post(
    "/spaces/{space_id}/git/import",
    status_code=204,
    openapi_extra=declare_role("admin", extension=True),
    dependencies=_GIT,
)
def import_git_repository(
    storage: CurrentStorage, settings: CurrentSettings, caller: CurrentCaller, space_id: str, body: GitImportNew
) -> Response:
    """Make a commit of a repository the main content of a space, or a revision of its own, after the answer."""
    return _start_transfer(storage, settings, caller, space_id, body)


@router.post(
    "/spaces/{space_id}/git/export",
    status_code=204,
    openapi_extra=declare_role("admin", extension=True),
    dependencies=_GIT,
)
def export_to_git_repository(
    storage: CurrentStorage, settings: CurrentSettings, caller: CurrentCaller, space_id: str, body: GitExportNew
) -> Response:
    """Push the main content of a space as a commit to a branch of a repository, after the answer.

    Raises: Failure 400 for a ref that is no branch.
    """
    if not body.ref.startswith("refs/heads/"):
        raise Failure(400, "ref: an export goes to a branch, such as refs/heads/main.")
    return _start_transfer(storage, settings, caller, space_id, body)


def _start_transfer(
    storage: Storage, settings: PlatformSettings, caller: Caller, space_id: str, body: GitTransfer
) -> Response:
    with storage.read() as connection:
        # Whoever may not write must not make the platform look at an address either.
        require_space(connection, caller, space_id)
    url, credentials = split_credentials(body.url)
    check_reachable(url, private=settings.private_addresses)
    if not body.ref.startswith("refs/"):
        raise Failure(400, "ref: it must be a full name, such as refs/heads/main.")
    body = body.model_copy(update={"url": url})
    with storage.write() as connection:
        require_space(connection, caller, space_id)
        needs = bool(credentials.secret)
        id = operations.insert_operation(
            connection, storage, space_id, body, by=caller.user_id or "", needs_credentials=needs
        )
        # Before the transaction ends: a worker may begin at once.
        keep_credentials(id, credentials)
    return answers.no_content()
