"""A site whose file lies in the repository of a fleet, and its plans that wait."""

from syncd.fleet.database import FleetDatabase
from syncd.fleet.people.plans import list_plans
from syncd.model.site import SiteCreate, SiteSectionCreate
from syncd.model.space import SpaceCreate
from tests.fleet.conftest import Fleet

SECTION = """\
    - section: {key}
      title: {title}
      path: {key}
      default: {default}
      variants: [{{ variant: main, space: {key}, default: true }}]
"""
PRUNED = "policy: { prune: { structure: owned } }\n"


class FleetSite:
    """A site with three sections, whose file lies in the repository of a fleet."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        with fleet.world.client() as client:
            self.organization = client.spaces.get(fleet.world.space).organization or ""
            self.spaces = {"guides": fleet.world.space}
            for key in ("api", "more"):
                self.spaces[key] = client.spaces.create(self.organization, SpaceCreate(title=key.title())).id
            self.site = client.sites.create(self.organization, SiteCreate(title="Acme")).id
            for key, space in self.spaces.items():
                client.sections.create(
                    self.organization, self.site, SiteSectionCreate(space_id=space, title=key.title())
                )
            client.sites.publish(self.organization, self.site)

    def render(self, *keys: str, policy: str = "") -> str:
        spaces = "".join(f"  {alias}: {id}\n" for alias, id in self.spaces.items())
        sections = "".join(
            SECTION.format(key=key, title=key.title(), default=str(key == "guides").lower()) for key in keys
        )
        head = f"version: 1\nsite: {{ org: {self.organization}, id: {self.site} }}\nspaces:\n{spaces}"
        return f"{head}{policy}structure:\n  items:\n{sections}"

    def commit(self, *keys: str, policy: str = "") -> None:
        """A person commits a file with these sections, and the fleet looks at it."""
        self.fleet.commit("Site", {"site.yaml": self.render(*keys, policy=policy)})
        self.fleet.syncd("fleet", "wake", "docs")

    def sections(self) -> set[str]:
        with self.fleet.world.client() as client:
            return {one.path for one in client.sections.list(self.organization, self.site)}

    def pending(self) -> list[str]:
        with FleetDatabase(self.fleet.url) as database:
            return [one.plan.digest for one in list_plans(database)]

    def approve(self) -> None:
        (digest,) = self.pending()
        assert self.fleet.syncd("fleet", "approve", digest).returncode == 0
