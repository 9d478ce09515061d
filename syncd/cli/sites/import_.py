"""`site import`: write the file and the lock of a site as it is, and prove that the plan is empty."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, get_args

import typer

from syncd.cli.schema import schema_text
from syncd.cli.sites.colours import painted
from syncd.cli.sites.offline import USUAL, Place, place_of
from syncd.cli.sites.sitemap import on_disk
from syncd.cli.terminal.context import configuration
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.progress import progress
from syncd.cli.terminal.text import paint, print_text, safe
from syncd.config import Config, RepositoryConfig, SiteConfig
from syncd.daemon.workplace import Circumstances, bindings, site_wish, workplace
from syncd.errors import ConfigInvalid, FileInvalid
from syncd.files import create_file, read_file
from syncd.layout.site.write.emit import SCHEMA
from syncd.layout.site.write.imports import Remark
from syncd.layout.site.write.render import block
from syncd.model.redirect import source_key
from syncd.model.ref import AREAS, Area
from syncd.model.wording import format_count
from syncd.plan.site.lockfile.lockfile import lock_path, lock_text
from syncd.plan.site.render.document import plan_document
from syncd.plan.site.render.text import plan_text
from syncd.sync.site.import_site import Import, Target, import_site, one_site
from syncd.sync.site.lock import Keeping
from syncd.sync.site.read.foreign_files import Foreign
from syncd.sync.workspace import Binding, Workspace


@dataclass(frozen=True)
class Asked:
    """What is taken over, as typed: which site, which areas of it, with which file of another tool, and where to.

    Shape: `variant` is the key of the variant whose space the other tool's file is about.
    """

    config: Path | None = None
    organization: str = ""
    site: str = ""
    areas: Sequence[str] = field(default=())
    source: Path | None = None
    variant: str = ""
    out: Path | None = None

    def chosen(self) -> frozenset[Area]:
        """Return the areas. Raises: BadParameter for a word that is none."""
        words = [name for word in self.areas for name in word.split(",")]
        if unknown := sorted(set(words) - set(get_args(Area))):
            raise typer.BadParameter(f"--areas {unknown[0]}: there are {', '.join(AREAS)}")
        return frozenset(area for area in AREAS if not words or area in words)


def run_import(asked: Asked, *, as_json: bool) -> int:
    """Write what declares a site; return 65 when the file has errors, 1 when the plan is not empty afterwards.

    Shape: beside a site file that exists, only what a file of another tool says is printed.
    Raises: ConfigInvalid when a file is there already.
    """
    areas = asked.chosen()
    if asked.source is not None:
        place = place_of(asked.config, asked.out, option="--out")
        if (place.top / place.path).is_file():
            return _print(place, _foreign(asked.source, place.top, place.bindings, asked.variant), as_json=as_json)
    config = configuration(asked.config)
    repository, top, path = _place(config, asked.out)
    spaces = bindings(repository)
    foreign = _foreign(asked.source, top, spaces, asked.variant) if asked.source is not None else None
    _refuse(top, path)
    wish = site_wish(repository.site or SiteConfig(), file=path)
    with progress() as tell, workplace(config, repository, Circumstances(os.environ, progress=tell)) as workspace:
        organization, site = one_site(workspace, asked.organization, asked.site)
        taken = import_site(workspace, Target(organization, site, path, areas, foreign))
        files = _schema(top, path) | _files(taken, path, wish.lock)
        _write(top, files)
        if wish.lock == "state":
            _keep(workspace, taken)
    if as_json:
        emit({"files": list(files), **_document(taken)})
    else:
        print_text("\n".join(_lines(taken, repository, files)))
    if taken.errors:
        return FileInvalid.exit_code
    return 1 if taken.unexpected else 0


def _foreign(source: Path, top: Path, spaces: tuple[Binding, ...], variant: str) -> Foreign:
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise ConfigInvalid(f"{source} cannot be read: {why}") from error
    here = Path(os.path.abspath(source))
    inside = here.is_relative_to(top)
    return Foreign(here.relative_to(top).as_posix() if inside else here.name, text, spaces, variant)


def _print(place: Place, foreign: Foreign, *, as_json: bool) -> int:
    """Print what a file of another tool says and the site file does not, for a person to paste."""
    site = on_disk(place)
    found = foreign.read(site, lambda space: {file: path for path, file in site.pages.get(space, {}).items()} or None)
    document = dict(found.document)
    known = site.rules.keys()
    document["redirects"] = [one for one in document.get("redirects", ()) if source_key(one["from"]) not in known]
    document = {name: value for name, value in document.items() if value}
    if as_json:
        emit({"files": [], "missing": document, "not_taken": _not_taken(found.remarks)})
        return 0
    if document:
        print(block(document, 0, spread=True))
    print("\n".join(_remarks(found.remarks)), file=sys.stderr, end="\n" if found.remarks else "")
    what = f"paste it into {place.path}" if document else f"nothing that {place.path} does not have"
    print(f"{paint('note:', 33, sys.stderr)} {safe(what)}", file=sys.stderr)
    return 0


def _remarks(remarks: Iterable[Remark]) -> Iterator[str]:
    for one in remarks:
        yield f"{safe(str(one.place))}: {paint('not taken:', 33, sys.stdout)} {safe(one.what)}"


def _not_taken(remarks: Iterable[Remark]) -> list[dict[str, str]]:
    return [{"place": str(one.place), "what": one.what} for one in remarks]


def _place(config: Config, out: Path | None) -> tuple[RepositoryConfig, Path, str]:
    """The repository that the file goes into, the top of its work tree, and the file's path from there."""
    found = [(one, Path(os.path.abspath(one.path))) for one in config.repository]
    if out is None:
        sited = [pair for pair in found if pair[0].site is not None] or found
        if len(sited) > 1:
            raise typer.BadParameter("there are several repositories: say where the file goes with --out")
        repository, top = sited[0]
        return repository, top, repository.site.file if repository.site is not None else USUAL
    path = Path(os.path.abspath(out))
    for repository, top in found:
        if path.is_relative_to(top) and path != top:
            return repository, top, path.relative_to(top).as_posix()
    raise typer.BadParameter(f"--out {out} lies in no configured repository")


def _refuse(top: Path, path: str) -> None:
    if not (top / ".git").exists():
        raise ConfigInvalid(f"{top} has no work tree to write into", hint="import into a clone that has one")
    if os.path.lexists(top / path):
        raise ConfigInvalid(
            f"{path} is there already; nothing was read or written",
            hint="name another file with --out, or move this one away",
        )


def _files(taken: Import, path: str, place: str) -> dict[str, str]:
    """The texts to write, the site file last: only then is there a site to speak of."""
    files = {name: text for name, text in taken.files.items() if name != path}
    if place == "repo":
        files[lock_path(path)] = lock_text(taken.lock)
    return {**files, path: taken.files[path]}


def _schema(top: Path, path: str) -> dict[str, str]:
    """The schema that the site file's first lines name to editors, unless one lies there."""
    named = str(PurePosixPath(path).parent / SCHEMA)
    return {} if os.path.lexists(top / named) else {named: schema_text("site")}


def _write(top: Path, files: Mapping[str, str]) -> None:
    """Write files that are not there yet. A run that died in between left some of them, as they would be now."""
    for path, text in files.items():
        try:
            create_file(top, path, text.encode())
        except FileExistsError:
            if read_file(top, path) != text.encode():
                hint = "each site file has a directory of its own: name one with --out DIRECTORY/site.yaml"
                raise ConfigInvalid(f"{path} is there already", hint=hint) from None
        except OSError as error:
            raise ConfigInvalid(f"{path} cannot be written: {error.strerror}") from error


def _keep(workspace: Workspace, taken: Import) -> None:
    keeping = Keeping(workspace, taken.file, "state")
    keeping.load()
    keeping.save(taken.lock.items)


def _lines(taken: Import, repository: RepositoryConfig, files: Mapping[str, str]) -> list[str]:
    lines = []
    for one in taken.findings:
        word = paint(one.severity, 31 if one.severity == "error" else 33, sys.stdout)
        lines.append(f"{safe(one.path)}:{one.line}:{one.column}: {word} {one.code}: {safe(one.message)}")
    lines += _remarks(taken.remarks)
    if taken.unexpected:
        lines += painted((style, text) for style, text in plan_text(taken.plan) if style != "hint")
        lines.append(
            f"{paint('!', 31, sys.stdout)} the file does not say all of this: read the plan before you commit it"
        )
    lines.append(f"Wrote {safe(', '.join(files))}.")
    state = "as on the site: the plan is empty"
    if taken.errors:
        errors = format_count(taken.errors, "error")
        state = f"and the file has {errors}: nothing of it can be applied until they are mended"
    elif taken.plan:
        state = f"and the plan has {format_count(len(taken.plan.steps), 'step')}: see syncd site plan"
    owned = len(taken.lock.items)
    lines.append(f"{format_count(owned, 'thing')} {'is' if owned == 1 else 'are'} syncd's now, {state}.")
    outside = ", ".join(format_count(count, kind) for kind, count in taken.outside.items())
    lines += [f"Outside of the file, and left alone: {outside}."] if outside else []
    if repository.site is None:
        lines.append(f'Next: add [repository.site] with file = "{list(files)[-1]}" to the configuration.')
    lines.append(f"Next: git add {shlex.join(files)} && git commit, then syncd site plan")
    return lines


def _document(taken: Import) -> dict[str, Any]:
    return {
        "owned": len(taken.lock.items),
        "outside": dict(taken.outside),
        "not_taken": _not_taken(taken.remarks),
        "plan": plan_document(taken.plan),
    }
