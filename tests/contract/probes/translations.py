"""Translations."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

INSTRUCTIONS = {
    "object": "document",
    "data": {},
    "nodes": [
        {
            "object": "block",
            "type": "paragraph",
            "isVoid": False,
            "data": {},
            "nodes": [{"object": "text", "leaves": [{"object": "leaf", "text": "Say tu.", "marks": []}]}],
        }
    ],
}


def made(world: World, **members: Any) -> dict[str, str]:
    body = {"source": {"space": world.space()["id"], "language": "en"}, "language": "fr", **members}
    return {"translationId": world.made("createTranslation", body=body)["id"]}


@probe("listTranslations")
def probe_list_translations(world: World) -> Ask:
    for language in ("fr", "de", "pt-br"):
        made(world, language=language)
    return Ask(items=3)


@probe("createTranslation")
def probe_create_translation(world: World) -> Ask:
    space, outside = world.space()["id"], world.target.world()
    body = {"source": {"space": space, "language": "en"}, "language": "fr", "instructions": INSTRUCTIONS}
    wrong = (
        body | {"language": "tlh"},
        body | {"language": "en"},
        body | {"language": None},
        body | {"source": {"space": "Nowhere0000000000000"}},
        body | {"source": {"space": outside.space()["id"]}},
        body | {"source": {"space": space, "language": "tlh"}},
        body | {"instructions": "Say tu."},
        {"source": {"space": space}},
        {"language": "fr"},
    )

    def check(answer: Any) -> None:
        assert answer["status"] == "pending"
        assert answer["source"] == {"space": space, "language": "en"}
        assert answer["instructions"] == INSTRUCTIONS

    return Ask(body=body, status=201, invalid=wrong, check=check)


@probe("getTranslation")
def probe_get_translation(world: World) -> Ask:
    path = made(world)
    world.run_jobs()

    def check(answer: Any) -> None:
        assert answer["status"] == "completed"
        assert answer["stats"]["latestPages"] == 1

    return Ask(path, check=check)


@probe("updateTranslation")
def probe_update_translation(world: World) -> Ask:
    wrong: tuple[Any, ...] = ({}, {"instructions": None}, {"instructions": "text"}, {"instructions": {"nodes": 7}})
    return Ask(made(world), body={"instructions": INSTRUCTIONS}, invalid=wrong)


@probe("deleteTranslation")
def probe_delete_translation(world: World) -> Ask:
    return Ask(made(world), status=204)


@probe("runTranslation")
def runs(world: World) -> Ask:
    return Ask(made(world), status=204)
