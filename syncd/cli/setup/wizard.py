"""What `clone` and `init` ask a person for: the platform, a token, the spaces, the directory, the side that leads."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import get_args

import typer

from syncd.api.client import Client
from syncd.api.transport.addresses import parse_base_url
from syncd.cli.auth.login import ask_for_login
from syncd.cli.auth.platforms import APPLICATION, PUBLIC_PLATFORM, build_named_platform, find_configured_platform
from syncd.cli.setup.configuration import CREDENTIAL_HINT, SpaceDirectories, build_platform, find_absolute_path
from syncd.cli.setup.space_ids import find_origin, is_space_word, read_space_id, read_space_words
from syncd.cli.terminal.progress import make_client_options
from syncd.cli.terminal.questions import MissingAnswer, ask_text, ask_yes, can_ask, refuse_missing, say
from syncd.cli.terminal.text import escape
from syncd.config import PlatformConfig, load_token
from syncd.config.drop_ins import SOME_PLATFORM
from syncd.config.names import clean_directory, lie_in_each_other
from syncd.config.saved_tokens import TokenRegister
from syncd.config.tokens import find_token_source
from syncd.errors import ConfigInvalid, NotFound, Unauthorized
from syncd.layout.tree.paths import slugify
from syncd.model.space import Space
from syncd.sync.policy import PreferredSide

SPACES_SHOWN = 20
_PLATFORM = MissingAnswer("the platform", "URL, or --url URL")
_SPACE = MissingAnswer("a space", "SPACE, or --space SPACE")
_DIRECTORY = MissingAnswer("the directory", "REPO, or --directory DIR")
_TOKEN = MissingAnswer("a token", "--token-file FILE, the variable SYNCD_TOKEN, or syncd auth login")


@dataclass(frozen=True)
class SetupWords:
    """What a person typed of a setup; "" and nothing stand for what was left out.

    Shape: `spaces` are `SPACE[=DIR]` words; `directory` is None where the command has none.
    """

    url: str = ""
    spaces: Sequence[str] = ()
    directory: str | None = None
    token_file: Path | None = None
    insecure: bool = False


@dataclass(frozen=True)
class SetupAnswers:
    """A setup without gaps: the platform, the spaces with their directories, and the directory of a new repository."""

    platform: PlatformConfig
    spaces: SpaceDirectories
    directory: Path


@dataclass(frozen=True)
class OfferedSpace:
    """A space that the token's user can write to, and the title of its organization."""

    space: Space
    organization: str

    def contains(self, text: str) -> bool:
        """Return whether a text is part of the title, of the id, or of the organization's title."""
        return any(text in part.casefold() for part in (self.space.title, self.space.id, self.organization))


def split_setup_words(words: Sequence[str], url: str) -> tuple[str, list[str]]:
    """Return the platform and the other words of a command line; `url` is the value of --url.

    Shape: the first word is the platform, unless --url is given or it names a space. Then the platform is that of the
    space's address, or for an id the configured one; "" where there is none.
    """
    first, *rest = [word for word in words if word] or [""]
    if url or not is_space_word(first):
        return (url, [first, *rest] if first else []) if url else (first, rest)
    origin = find_origin(first)
    return PUBLIC_PLATFORM if origin == APPLICATION else origin or _find_configured_address(), [first, *rest]


def _find_configured_address() -> str:
    try:
        configured = find_configured_platform(None)
    except ConfigInvalid:
        return ""
    return configured.url if configured is not None else ""


def complete_setup(words: SetupWords, *, command: str) -> SetupAnswers:
    """Return what was typed, completed by what a person answers.

    Shape: a token that is missing is asked for, too. The command line that needs no question is printed at the end.
    Raises: BadParameter without a person, naming all that is missing; ConfigInvalid; PlatformError.
    """
    missing = _list_missing(words)
    if not can_ask():
        refuse_missing(missing)
    platform = _complete_platform(words)
    if can_ask():
        _offer_login(platform)
    spaces, title = read_space_words(words.spaces), "docs"
    if not spaces:
        chosen = _ask_spaces(platform)
        spaces, title = _ask_directories(chosen), chosen[0].title
    directory = Path(words.directory or ".")
    if words.directory == "":
        directory = ask_text("Directory of the new repository", _check_new, default=_find_free_name(title))
    if missing:
        say(f"The same without questions: {_format_command(command, words, platform, spaces, directory)}")
    return SetupAnswers(platform, spaces, find_absolute_path(directory))


def ask_preferences(names: Sequence[str]) -> Mapping[str, PreferredSide]:
    """Return the side that leads for each space of which Git and the platform differ; those left out stay undecided."""
    chosen: dict[str, PreferredSide] = {}
    say("Which side goes first? What only the other side has stays in its history, and nothing is lost.")
    for name in names:
        side = ask_text(f"{escape(name)}: platform, git or neither", _check_side, default="neither")
        if side is not None:
            chosen[name] = side
    return chosen


def _check_side(text: str) -> PreferredSide | None:
    sides: tuple[PreferredSide, ...] = get_args(PreferredSide)
    found = [side for side in sides if text and side.startswith(text.lower())]
    if not found and not (text and "neither".startswith(text.lower())):
        raise typer.BadParameter("write platform, git or neither")
    return found[0] if found else None


def _list_missing(words: SetupWords) -> list[MissingAnswer]:
    """What was not typed; a token alone is missed by whoever needs it, with an error of its own."""
    gaps = ((_PLATFORM, not words.url), (_SPACE, not words.spaces), (_DIRECTORY, words.directory == ""))
    missing = [answer for answer, is_missing in gaps if is_missing]
    if missing and not _has_token(words):
        missing.append(_TOKEN)
    return missing


def _has_token(words: SetupWords) -> bool:
    """Whether some token is named; for a platform that is not known, one that was saved for any counts as none."""
    if words.token_file is not None or os.environ.get("SYNCD_TOKEN"):
        return True
    platform = PlatformConfig.model_validate({"url": words.url} if words.url else SOME_PLATFORM)
    return find_token_source(platform, os.environ) is not None


def _complete_platform(words: SetupWords) -> PlatformConfig:
    """The platform that was typed, else the one that a person names."""

    def check(url: str) -> str:
        parse_base_url(url, insecure=words.insecure)
        return url

    if words.url and words.token_file is None and "://" in words.url:
        return build_named_platform(words.url, None, insecure=words.insecure)
    if words.url:
        return build_platform(words.url, words.token_file, insecure=words.insecure)
    saved = [one.url for one in TokenRegister(os.environ).list_saved()]
    default = _find_configured_address() or (saved[0] if len(saved) == 1 else PUBLIC_PLATFORM)
    url = ask_text("Address of the platform's API", check, default=default)
    return build_platform(url, words.token_file, insecure=words.insecure)


def _offer_login(platform: PlatformConfig) -> None:
    """Save a token where none is found and a person has one; without one the next step says what is missing."""
    if find_token_source(platform, os.environ) is not None:
        return
    if ask_yes(f"There is no token for {escape(platform.url)}. Save one now?"):
        ask_for_login(platform)


def _ask_spaces(platform: PlatformConfig) -> list[Space]:
    """The spaces that a person chooses from those that the token's user can write to."""
    secret = load_token(platform, os.environ, hint=CREDENTIAL_HINT).get_secret_value()
    with Client(platform.url, secret, make_client_options(platform)) as client:
        return _choose_spaces(list_offered_spaces(client), client.spaces.get)


def list_offered_spaces(client: Client) -> list[OfferedSpace]:
    """Return every space that the token's user can write to, by organization and title.

    Shape: a server that names no permissions has not refused any; an organization whose spaces the user may not list
    has none here. Raises: PlatformError.
    """
    found: list[OfferedSpace] = []
    for organization in client.organizations.list():
        with suppress(NotFound, Unauthorized):
            found += [
                OfferedSpace(space, organization.title)
                for space in client.spaces.list(organization.id)
                if space.deleted_at is None and space.permissions.get("edit") is not False
            ]
    return sorted(found, key=lambda one: (one.organization.casefold(), one.space.title.casefold(), one.space.id))


def _choose_spaces(offered: Sequence[OfferedSpace], read_space: Callable[[str], Space]) -> list[Space]:
    """Ask until numbers, or the id or address of a space, are typed; any other text searches."""
    listed = list(offered)
    while True:
        heading = (
            "Spaces that you can write to:" if listed else "This token's user can write to no space that is listed."
        )
        say("\n".join([heading, *_format_spaces(listed)]))
        question = "Number, several such as 1,3, or text to search for" if listed else "Id or address of a space"
        text = ask_text(question, str, default="1" if len(listed) == 1 else None)
        if numbers := _read_numbers(text, len(listed)):
            return [listed[number - 1].space for number in numbers]
        if listed and text.replace(",", "").replace(" ", "").isdigit():
            say(f"There are numbers from 1 to {len(listed)}.")
            continue
        matching = [one for one in offered if one.contains(text.casefold())]
        if not matching and (space := _find_space(text, read_space)) is not None:
            return [space]
        listed = matching or list(offered)


def _find_space(text: str, read_space: Callable[[str], Space]) -> Space | None:
    """The space of an id or an address; None, with a message, when there is none."""
    try:
        return read_space(read_space_id(text))
    except NotFound:
        say(f"There is no space {escape(text)}, or you may not see it.")
    except typer.BadParameter:
        say(f"No space has {escape(text)} in its title, its id or its organization.")
    return None


def _read_numbers(text: str, highest: int) -> list[int]:
    """The numbers of a list such as `1,3`, each once; nothing when one of them is none of the list."""
    words = text.replace(",", " ").split()
    if not words or not all(word.isascii() and word.isdigit() and 1 <= int(word) <= highest for word in words):
        return []
    return list(dict.fromkeys(int(word) for word in words))


def _format_spaces(listed: Sequence[OfferedSpace]) -> list[str]:
    lines = [
        f"{number:>4}  {escape(one.space.title or one.space.id)}  ({escape(one.organization)}, {escape(one.space.id)})"
        for number, one in enumerate(listed[:SPACES_SHOWN], start=1)
    ]
    left = len(listed) - len(lines)
    return [*lines, f"      and {left} more; type a part of the title to see them"] if left else lines


def _ask_directories(spaces: Sequence[Space]) -> SpaceDirectories:
    """The spaces with their directories in the repository; one alone fills it."""
    if len(spaces) == 1:
        return [(spaces[0].id, "")]
    found: list[tuple[str, str]] = []
    for space in spaces:
        used = {directory for _, directory in found}
        name = slugify(space.title)[:40] or "space"
        default = name if name not in used else f"{name}-{len(found) + 1}"
        check = _make_directory_check(used)
        found.append(
            (space.id, ask_text(f"Directory in the repository for {escape(space.title)}", check, default=default))
        )
    return found


def _make_directory_check(used: set[str]) -> Callable[[str], str]:
    def check(text: str) -> str:
        try:
            directory = clean_directory(text)
        except ValueError:
            directory = ""
        if not directory:
            raise typer.BadParameter("write a directory inside of the repository, such as docs/guides")
        if any(lie_in_each_other(one, directory) for one in used):
            raise typer.BadParameter("directories of two spaces must not lie in each other")
        return directory

    return check


def _find_free_name(title: str) -> str:
    """The name of a directory for what has this title, with a number where it is there already."""
    name = slugify(title)[:40] or "docs"
    numbered = (f"{name}-{number}" for number in count(2))
    return next(each for each in chain((name,), numbered) if not _is_taken(Path(each)))


def _is_taken(directory: Path) -> bool:
    return directory.exists() and (not directory.is_dir() or any(directory.iterdir()))


def _check_new(text: str) -> Path:
    directory = Path(text).expanduser()
    if _is_taken(directory):
        raise typer.BadParameter(f"{directory} is there already; name a new directory")
    return directory


def _format_command(
    command: str, words: SetupWords, platform: PlatformConfig, spaces: SpaceDirectories, directory: Path
) -> str:
    parts = ["syncd", command, "--url", platform.url]
    for space, inner in spaces:
        parts += ["--space", f"{space}={inner}" if inner else space]
    parts += ["--directory", str(directory)] if words.directory is not None else []
    parts += ["--token-file", str(words.token_file)] if words.token_file is not None else []
    return shlex.join([*parts, *(["--insecure"] if platform.insecure else [])])
