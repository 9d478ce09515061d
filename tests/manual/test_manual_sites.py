"""Pages about sites, typed: a site follows its file, redirects are edited and replayed, and a static site is built."""

import re

import pytest

from tests.checkouts import plant
from tests.manual.place import Place, list_lines, plays, read_page, read_part

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]
SITE, REDIRECTS, STATIC, RULES = (
    "how-to/site.md",
    "how-to/redirects.md",
    "how-to/static-site.md",
    "reference/site-rules.md",
)
RENAME, RECOVER = "how-to/rename-page.md", "how-to/recover.md"
DOCS = {
    "README.md": "# Home\n\nWelcome.\n",
    "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Begin](get-started/README.md)\n"
    "  * [Install](get-started/install.md)\n* [Set up](set-up.md)\n",
    "get-started/README.md": "# Begin\n\nFrom here.\n",
    "get-started/install.md": "# Install\n\nTurn the key.\n",
    "set-up.md": "# Set up\n\nTurn it twice.\n",
}


def lines(*typed: str) -> str:
    """A block of lines."""
    return "```sh\n{}\n```\n".format("\n".join(typed))


def ask(place: Place, words: str) -> str:
    """Ask the platform from the clone, and return the one value that comes."""
    return place.type(f"cd docs && syncd api {words}").strip().strip('"')


@pytest.fixture
def site(platform: Place) -> Place:
    """A published site with a section, and a clone of its space in `docs`, in the directory `docs` of that."""
    plant(platform.root / "more", DOCS)
    said = platform.type("syncd platform import more --data platform-data --title Docs")
    space = platform.names["SPACE"] = said.split("space ", 1)[1].split()[0]
    platform.type(f"syncd clone {platform.url} {space}=docs docs --token-file platform-data/token")
    organization = platform.names["ORGANIZATION"] = ask(platform, "GET /orgs --jq .items[0].id")
    made = ask(platform, f"POST /orgs/{organization}/sites -F title=Docs --jq .id")
    platform.names["SITE"] = made
    ask(platform, f"POST /orgs/{organization}/sites/{made}/sections -F spaceId={space} -F title=Guides --jq .title")
    ask(platform, f"POST /orgs/{organization}/sites/{made}/publish")
    return platform


@pytest.fixture
def followed(site: Place) -> Place:
    """A site that follows a file that is committed, and pushed to a Git host."""
    (line,) = list_lines(read_part(SITE, "Start from the site that you have"))
    site.play(lines(line), names=site.names, at="docs")
    site.type("cd docs && printf '\n[repository.site]\nfile = \"site.yaml\"\n' >> .git/syncd.toml")
    site.type("cd docs && git add -A && git commit -qm 'Describe the site'")
    site.type(
        "git clone -q --bare docs host.git && cd docs && git remote add origin ../host.git && git fetch -q origin"
    )
    return site


def edit(place: Place, old: str, new: str) -> str:
    """Replace a text of the site file, commit that, and return the commit."""
    path = place.root / "docs/site.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    place.type("cd docs && git commit -qam 'Edit the site'")
    return place.type("git -C docs rev-parse HEAD").strip()


@plays(SITE)
@plays(RULES)
def test_a_site_follows_its_file_and_a_plan_is_taken_back(followed: Place) -> None:
    place, organization, site = followed, followed.names["ORGANIZATION"], followed.names["SITE"]
    place.play(read_page(RULES), names={}, at="docs")
    place.play(read_part(SITE, "Edit and check"), names={}, at="docs")
    edit(place, "title: Guides", "title: Handbook")
    digest = re.findall(
        r"\b[0-9a-f]{12}\b",
        place.play(
            read_part(SITE, "Plan"), names={}, at="docs", codes={"syncd site plan --exit-code --markdown plan.md": 2}
        ),
    )[-1]
    asked, expected, save, apply = list_lines(read_part(SITE, "Apply"))
    place.typed.add(asked)
    assert "--yes" in place.type(f"cd docs && {asked}", code=64)
    place.typed.add(expected)
    place.type(f"cd docs && {expected.replace('3f9a0c12be77', digest)} --yes")
    edited = edit(place, "title: Handbook", "title: Guides")
    place.play(lines(save), names={}, at="docs")
    place.typed.add(apply)
    place.type(f"cd docs && {apply} --yes")
    other = (
        place.type("syncd platform import source --data platform-data --title Other").split("space ", 1)[1].split()[0]
    )
    ask(place, f"POST /orgs/{organization}/sites/{site}/sections -F spaceId={other} -F title=Other --jq .title")
    place.type("cd docs && rm site.yaml site.lock.json plan.md && syncd site import --site " + site)
    place.type("cd docs && git add -A && git commit -qm 'Describe more'")
    text = (place.root / "docs/site.yaml").read_text()
    (place.root / "docs/site.yaml").write_text(without_other(text))
    place.type("cd docs && git commit -qam 'Take it out'")
    pending, approve = list_lines(read_part(SITE, "Who can read what"))
    place.type("cd docs && syncd sync", code=5)
    held = re.findall(r"\b[0-9a-f]{12}\b", place.play(lines(pending), names={}, at="docs"))[0]
    place.play(lines(approve), names={"7f3a": held[:6]}, at="docs")
    (force,) = list_lines(read_part(SITE, "Gates"))
    place.typed.add(force)
    place.type(f"cd docs && {force.replace('=1', '=2')} --yes")
    address = f"/orgs/{organization}/sites/{site}/sections"
    section = ask(place, f"GET {address} --jq .items[0].id")
    ask(place, f"PATCH {address}/{section} -F title=Live --jq .title")
    drift, prefer = read_part(SITE, "Drift").split("`--accept` writes")
    assert "Live" in place.play(drift, names={}, at="docs")
    place.type("cd docs && git commit -qam 'As it is'")
    for line in list_lines(prefer):
        place.typed.add(line)
        place.type(f"cd docs && {line} --yes")
    edited = edit(place, "title: Live", "title: Last")
    place.type("cd docs && syncd site apply --yes")
    revert, apply = list_lines(read_part(SITE, "Take a plan back"))
    place.environ["GIT_EDITOR"] = "true"
    place.play(lines(revert), names={"COMMIT": edited}, at="docs")
    place.type(f"cd docs && {apply} --yes")
    assert ask(place, f"GET {address} --jq .items[0].title") == "Live"


def without_other(text: str) -> str:
    """A site file without the section that is called Other."""
    found = re.search(r"^    - section: other\n(?:      .*\n)+", text, re.MULTILINE)
    assert found, text
    return text.replace(found[0], "").replace("version: 1\n", "version: 1\npolicy: { prune: { structure: owned } }\n")


@plays(REDIRECTS)
@plays(RENAME, "Keep old addresses alive")
def test_redirects_are_edited_tested_and_replayed(followed: Place) -> None:
    place = followed
    block = read_page(REDIRECTS).split("```yaml\n")[1].split("```")[0].replace("guides-en", "docs")
    for name in ("ORGANIZATION", "SITE", "SPACE"):
        block = block.replace(name, place.names[name])
    (place.root / "docs/site.yaml").write_text(block)
    (place.root / "docs/redirects").mkdir()
    (place.root / "docs/redirects/2025.csv").write_text("source,destination,note\n/older,section:guides,\n")
    place.type(
        "cd docs && git add -A && git commit -qm 'Keep redirects' && git push -q origin main && git fetch -q origin"
    )
    (place.root / "docs/_redirects").write_text("/once  https://status.example.org  301\n")
    plant(place.root / "old-docs", {".gitbook.yaml": "redirects:\n  former: get-started/install.md\n", **DOCS})
    before, test, rest = re.split("^(?=## Test an address|## Replay old)", read_page(REDIRECTS), flags=re.MULTILINE)
    place.play(before, names={"~/old-docs": "../old-docs"}, at="docs")
    assert "arrive" in place.play(test, names={}, at="docs")
    codes = {"syncd redirects simulate --before origin/main": 3}  # one that leads nowhere now was taken out above
    place.play(rest, names={}, at="docs", codes=codes)
    place.play(read_part(RENAME, "Keep old addresses alive"), names={"/install": "/put-in"}, at="docs", codes=codes)


@plays(STATIC)
def test_a_static_site_is_built(followed: Place) -> None:
    followed.type("mkdir -p docs/.github/workflows docs/.gitlab")
    followed.play(read_page(STATIC), names={}, at="docs")
    assert "Welcome." in next((followed.root / "docs/public").rglob("index.html")).read_text()


@plays(RECOVER, "A wrong apply of a site")
def test_a_wrong_apply_is_taken_back(followed: Place) -> None:
    place = followed
    edit(place, "title: Guides", "title: Wrong")
    place.type("cd docs && syncd site apply --yes")
    dry, act, revert = list_lines(read_part(RECOVER, "A wrong apply of a site"))
    place.play(lines(dry), names={}, at="docs")
    place.typed.add(act)
    place.type(f"cd docs && {act} --yes")
    place.environ["GIT_EDITOR"] = "true"
    place.play(lines(revert), names={}, at="docs")
    assert "title: Guides" in (place.root / "docs/site.yaml").read_text()
