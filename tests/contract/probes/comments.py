"""Comments on change requests."""

from tests.contract.probes._discussions import add_probes
from tests.contract.world import HOME, World


def _place(world: World) -> tuple[dict[str, str], str]:
    space = world.space(changes=())["id"]
    request = world.change_request(space, changes=[HOME])
    return {"spaceId": space, "changeRequestId": request["id"]}, request["written"]["changes"][0]["page"]["id"]


add_probes("ChangeRequest", _place)
