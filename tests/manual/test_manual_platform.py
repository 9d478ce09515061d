"""Pages about the embedded platform, typed: imports, people, services, storage and the API."""

import json
from collections.abc import Iterator

import pytest
from moto.server import ThreadedMotoServer

from tests.checkouts import plant
from tests.cli.conftest import PAGES
from tests.manual.place import Place, list_lines, plays, read_page, read_part
from tests.postgres import Server

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]
PLATFORM, ACCESS, SERVICES = "how-to/embedded-platform.md", "how-to/platform-access.md", "how-to/platform-services.md"
STORAGE, SIGN_IN, PUBLISHED = "how-to/platform-storage.md", "how-to/platform-pages.md", "how-to/published-sites.md"
API, DOCUMENTS, OPERATIONS = "reference/api.md", "reference/documents.md", "reference/platform-api.md"
ANN = "ann@example.org"
CERTIFICATE = "openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -out docs/login.pem -days 9 -subj /CN=login"


@pytest.fixture
def house(clone: Place) -> Place:
    """A clone in `docs`, and the words in capitals of its organization; the data lies where a person would type it."""
    clone.names["ORGANIZATION"] = ask(clone, "GET /orgs --jq .items[0].id")
    return clone


def ask(place: Place, words: str) -> str:
    """Ask the platform from the clone, and return the one value that comes."""
    return place.type(f"cd docs && syncd api {words}").strip().strip('"')


def find_user(house: Place, email: str) -> str:
    """The id of a member."""
    organization = house.names["ORGANIZATION"]
    return ask(house, f"GET /orgs/{organization}/members --jq '.items[] | select(.user.email == \"{email}\") | .id'")


@plays(PLATFORM, "Serve", "Import a directory", "Export a space", "Look around")
def test_a_platform_is_filled_emptied_and_looked_at(place: Place) -> None:
    plant(place.root / "docs-of-ours", PAGES)
    (serve,) = list_lines(read_part(PLATFORM, "Serve"))
    assert place.play_in_front(f"```sh\n{serve} --port 0\n```", names={}).startswith("http://127.0.0.1:")
    place.typed.add(serve)
    first, again = read_part(PLATFORM, "Import a directory").split("The command prints the ids")
    place.names = {"SPACE": place.play(first, names={}).split("space ", 1)[1].split()[0]}
    place.play(again, names=place.names)
    place.play(read_part(PLATFORM, "Export a space"), names=place.names)
    assert (place.root / "guides-as-files/use.md").read_text() == PAGES["use.md"]
    place.serve()
    place.type(f"syncd clone {place.url} {place.names['SPACE']} docs --token-file platform-data/token")
    place.names["ORGANIZATION"] = ask(place, "GET /orgs --jq .items[0].id")
    assert "Guides" in place.play(read_part(PLATFORM, "Look around"), names=place.names, at="docs")


@plays(ACCESS)
def test_people_teams_and_invitations(house: Place) -> None:
    house.type("ln -s ../platform-data docs/platform-data")
    house.play(read_part(ACCESS, "Tokens"), names={}, at="docs")
    house.play(read_part(ACCESS, "Organizations"), names={}, at="docs")
    house.names["USER"] = find_user(house, ANN)
    house.names["TEAM"] = ask(house, f"PUT /orgs/{house.names['ORGANIZATION']}/teams -f title=Readers --jq .id")
    house.type(CERTIFICATE)
    titles = ("Roles", "Levels of spaces and collections", "Teams", "Invite people", "SAML")
    said = [house.play(read_part(ACCESS, title), names=house.names, at="docs") for title in titles]
    assert f"{house.names['USER']} edit " in said[0]
    assert "edit ann" in said[1]
    assert find_user(house, "bob@example.org")


@plays(SERVICES)
def test_search_ask_translations_integrations_and_all_else(house: Place) -> None:
    serve = read_part(SERVICES, "")
    house.names["KEY"] = "key"
    house.stop()
    export, line = list_lines(serve)
    house.play(f"```sh\n{export}\n```", names=house.names)
    assert house.play_in_front(f"```sh\n{line} --port 0\n```", names={}).startswith("http://127.0.0.1:")
    house.typed.add(line)
    del house.environ["SYNCD_ASK_KEY"], house.environ["SYNCD_TRANSLATE_KEY"]
    house.serve()
    house.play(read_part(SERVICES, "Search"), names=house.names, at="docs")
    for title, place, name in (
        ("Ask", 0, "SITE"),
        ("Translations", 0, "TRANSLATION"),
        ("Integrations and webhooks", 1, "INSTALLATION"),
    ):
        lines = list_lines(read_part(SERVICES, title))
        if name == "INSTALLATION":
            block = read_part(SERVICES, title).split("```json\n")[1].split("```")[0]
            (house.root / "docs/notify.json").write_text(block.replace("ORGANIZATION", house.names["ORGANIZATION"]))
        said = house.play("```sh\n{}\n```".format("\n".join(lines[: place + 1])), names=house.names, at="docs")
        house.names[name] = said.split()[-2 if name == "TRANSLATION" else -1].strip('"')
        house.play("```sh\n{}\n```".format("\n".join(lines[place + 1 :])), names=house.names, at="docs")
    document = {"openapi": "3.1.0", "info": {"title": "Widgets", "version": "1"}, "paths": {}}
    (house.root / "docs/openapi.json").write_text(json.dumps(document))
    *before, last = list_lines(read_part(SERVICES, "OpenAPI specifications"))
    house.play("```sh\n{}\n```".format("\n".join(before)), names=house.names, at="docs")
    state = f"GET /orgs/{house.names['ORGANIZATION']}/openapi/widget --jq .processingState"
    house.type(f"cd docs && until syncd api {state} | grep -q complete; do sleep 0.1; done")
    assert "Widgets" in house.play(f"```sh\n{last}\n```", names=house.names, at="docs")
    house.play(read_part(SERVICES, "Conversations"), names=house.names, at="docs")
    house.type("cd docs && echo More >> use.md && git commit -qam More && syncd push")
    page = ask(house, f"GET /spaces/{house.names['SPACE']}/content/pages --jq .pages[0].id")
    pdf = house.play(read_part(SERVICES, "PDF"), names=house.names | {"NUMBER": "1", "PAGE": page}, at="docs")
    assert pdf.count("http") == 2
    house.play(read_part(SERVICES, "Templates"), names=house.names, at="docs")


@plays(SIGN_IN)
def test_a_person_signs_in_and_out(clone: Place) -> None:
    clone.type(f"syncd platform token create --data platform-data --user {ANN}")
    assert clone.play(read_page(SIGN_IN), names={}).count("http://127.0.0.1:") == 1


@plays(STORAGE, "PostgreSQL")
def test_a_platform_on_postgresql_serves(place: Place, postgres_server: Server) -> None:
    names = {"postgresql://syncd@db.example.org/syncd": postgres_server.empty()}
    pip, export, serve = list_lines(read_part(STORAGE, "PostgreSQL"))
    place.play(f"```sh\n{pip}\n{export}\n```", names=names)
    assert place.play_in_front(f"```sh\n{serve} --port 0\n```", names={}).startswith("http://127.0.0.1:")
    place.typed.add(serve)
    assert not list((place.root / "platform-data").glob("*.db"))


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A bucket as AWS has them, and the variables that lead to it."""
    import boto3

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    found = {
        "SYNCD_PLATFORM_S3_ENDPOINT": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    boto3.client("s3", endpoint_url=found["SYNCD_PLATFORM_S3_ENDPOINT"]).create_bucket(Bucket="docs-platform")
    yield found
    server.stop()


@plays(STORAGE, "A bucket")
def test_a_platform_on_a_bucket_serves(place: Place, bucket: dict[str, str]) -> None:
    place.environ |= bucket
    pip, serve = list_lines(read_part(STORAGE, "A bucket"))
    place.play(f"```sh\n{pip}\n```", names={})
    assert place.play_in_front(f"```sh\n{serve} --port 0\n```", names={}).startswith("http://127.0.0.1:")
    place.typed.add(serve)
    assert not (place.root / "platform-data/blobs").exists()


@plays(PUBLISHED, "")
@plays(API)
def test_the_api_is_asked_and_told(house: Place) -> None:
    organization, space = house.names["ORGANIZATION"], house.names["SPACE"]
    site = house.names["SITE"] = ask(
        house, f"POST /orgs/{organization}/sites -f title=Docs -F 'spaces[]={space}' --jq .id"
    )
    ask(house, f"POST /orgs/{organization}/sites/{site}/publish")
    house.play(read_part(PUBLISHED, ""), names=house.names, at="docs")
    section = ask(house, f"POST /orgs/{organization}/sites/{site}/sections -F spaceId={space} -F title=Guides --jq .id")
    destination = f"-F destination[kind]=site-section -F destination[siteSectionId]={section}"
    made = ask(
        house, f"POST /orgs/{organization}/sites/{site}/redirects -F source=/old {destination} --jq .redirect.id"
    )
    plant(house.root / "docs", {"comment.md": "Is this true?\n", "customization.json": "{}"})
    look = ask(house, f"GET /orgs/{organization}/sites/{site}/customization")
    (house.root / "docs/customization.json").write_text(look)
    house.type("cd docs && echo More >> use.md && git commit -qam More && syncd push")
    said = house.play(read_page(API), names=house.names | {"REDIRECT": made, "7": "1"}, at="docs")
    assert "Product guides" in said


@plays(DOCUMENTS)
@plays(OPERATIONS)
def test_curl_reads_a_document_and_the_description(house: Place) -> None:
    space = house.names["SPACE"]
    page = ask(house, f"GET /spaces/{space}/content/pages --jq .pages[0].id")
    token = (house.root / "platform-data/token").read_text().strip()
    house.environ |= {"SYNCD_TOKEN": token, "URL": house.url, "SPACE": space, "PAGE": page}
    assert "Welcome." in house.play(read_page(DOCUMENTS), names={})
    assert '"openapi"' in house.play(read_page(OPERATIONS), names=house.names)
