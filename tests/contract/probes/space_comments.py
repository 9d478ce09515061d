"""Comments on spaces."""

from tests.contract.probes._discussions import add_probes
from tests.contract.world import World


def _place(world: World) -> tuple[dict[str, str], str]:
    space = world.space()["id"]
    return {"spaceId": space}, world.made("listPages", {"spaceId": space})["pages"][0]["id"]


add_probes("Space", _place)
