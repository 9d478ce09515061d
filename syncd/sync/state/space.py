"""Read a space as it is now, and say what to do about one that the platform has no more."""

from syncd.api.client import Client
from syncd.errors import NotFound
from syncd.model.space import Space


def read_space(client: Client, id: str) -> Space:
    """Return a space that exists. Raises: NotFound, also for one that is deleted and can be restored, with a hint."""
    try:
        space = client.spaces.get(id)
    except NotFound as error:
        raise NotFound(error.what, status=error.status, hint=_advise(id)) from error
    if space.deleted_at is not None:
        raise NotFound(f"space {id} was deleted on {space.deleted_at[:10]}", hint=_advise(id))
    return space


def _advise(id: str) -> str:
    return (
        "it is gone on the platform, or the token may not see it any more: restore it there,\n"
        f'or take its table out of the configuration: [[repository.space]] with id = "{id}"'
    )
