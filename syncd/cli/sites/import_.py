"""`site import`: write the file and the lock of an existing site, and check that their plan is empty."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, get_args

import typer

from syncd.cli.reference.schema import render_schema
from syncd.cli.sites.colours import style_lines
from syncd.cli.sites.offline import DEFAULT_FILE, SiteFileLocation, locate_site_file
from syncd.cli.sites.session import format_missing_table
from syncd.cli.sites.sitemap import read_site_on_disk
from syncd.cli.terminal.context import load_configuration
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.progress import make_environment, show_progress
from syncd.cli.terminal.site_ids import read_organization_id, read_site_id
from syncd.cli.terminal.text import escape, print_text, style_text
from syncd.config import Config, RepositoryConfig, SiteConfig
from syncd.daemon.labels import build_bindings
from syncd.daemon.workspaces import build_site_options, open_workspace
from syncd.errors import ConfigInvalid, FileInvalid
from syncd.files import create_file, read_file
from syncd.layout.site.write.emit import SCHEMA
from syncd.layout.site.write.imports import Remark
from syncd.layout.site.write.render import render_block
from syncd.model.redirect import make_source_key
from syncd.model.ref import AREAS, Area
from syncd.model.wording import format_count
from syncd.plan.site.lockfile.lockfile import find_lock_path, render_lock
from syncd.plan.site.render.document import render_plan_document
from syncd.plan.site.render.text import render_plan_text
from syncd.sync.binding import Binding
from syncd.sync.site.import_site import ImportTarget, SiteImport, choose_site, import_site
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.read.foreign_files import ForeignFile
from syncd.sync.workspace import Workspace


@dataclass(frozen=True)
class ImportOptions:
    """What a person typed behind `site import`: which site, which areas, a file of another tool, and the file to write.

    Shape: `variant` is the key of the variant whose space the other tool's file is about.
    """

    config: Path | None = None
    organization: str = ""
    site: str = ""
    areas: Sequence[str] = field(default=())
    source: Path | None = None
    variant: str = ""
    out: Path | None = None

    def parse_areas(self) -> frozenset[Area]:
        """Return the selected areas. Raises: BadParameter for an unknown one."""
        words = [name for word in self.areas for name in word.split(",")]
        if unknown := sorted(set(words) - set(get_args(Area))):
            raise typer.BadParameter(f"--areas {unknown[0]}: there are {', '.join(AREAS)}")
        return frozenset(area for area in AREAS if not words or area in words)

    def read_ids(self) -> tuple[str, str]:
        """Return the ids of the organization and the site, "" for what is not named; the address of a site names both.

        Raises: BadParameter, also when --org and the address of the site name two organizations.
        """
        named = read_organization_id(self.organization) if self.organization else ""
        site, organization = read_site_id(self.site) if self.site else ("", "")
        if named and organization and named != organization:
            raise typer.BadParameter(f"--org {named}: the address of --site is in the organization {organization}")
        return named or organization, site


def run_import(options: ImportOptions, *, as_json: bool) -> int:
    """Write the file and the lock of a site; return 65 when the file has errors, 1 when its plan is not empty.

    When the site file exists already, only what the file of another tool adds to it is printed.
    Raises: ConfigInvalid when a file is there already.
    """
    areas, ids = options.parse_areas(), options.read_ids()
    if options.source is not None:
        location = locate_site_file(options.config, options.out, option="--out")
        if (location.top / location.path).is_file():
            return _print_missing(
                location,
                _read_foreign(options.source, location.top, location.bindings, options.variant),
                as_json=as_json,
            )
    config = load_configuration(options.config)
    repository, top, path = _choose_target(config, options.out)
    spaces = build_bindings(repository)
    foreign = _read_foreign(options.source, top, spaces, options.variant) if options.source is not None else None
    _check_target(top, path)
    site_options = build_site_options(repository.site or SiteConfig(), file=path)
    with (
        show_progress() as on_progress,
        open_workspace(config, repository, make_environment(on_progress)) as workspace,
    ):
        organization, site = choose_site(workspace, *ids)
        imported = import_site(workspace, ImportTarget(organization, site, path, areas, foreign))
        files = _build_schema_file(top, path) | _build_files(imported, path, site_options.lock)
        _write_files(top, files)
        if site_options.lock == "state":
            _save_lock(workspace, imported)
    if as_json:
        print_document({"files": list(files), **_build_document(imported)})
    else:
        print_text("\n".join(_format_import(imported, repository, files, options.config)))
    if imported.errors:
        return FileInvalid.exit_code
    return 1 if imported.unexpected else 0


def _read_foreign(source: Path, top: Path, spaces: tuple[Binding, ...], variant: str) -> ForeignFile:
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise ConfigInvalid(f"{source} cannot be read: {why}") from error
    source_path = Path(os.path.abspath(source))
    inside = source_path.is_relative_to(top)
    return ForeignFile(source_path.relative_to(top).as_posix() if inside else source_path.name, text, spaces, variant)


def _print_missing(location: SiteFileLocation, foreign: ForeignFile, *, as_json: bool) -> int:
    """Print what a file of another tool has and the site file lacks, for a person to paste."""
    site = read_site_on_disk(location)
    found = foreign.import_for(
        site, lambda space: {file: path for path, file in site.pages.get(space, {}).items()} or None
    )
    document = dict(found.document)
    known = site.rules.keys()
    document["redirects"] = [one for one in document.get("redirects", ()) if make_source_key(one["from"]) not in known]
    document = {name: value for name, value in document.items() if value}
    if as_json:
        print_document({"files": [], "missing": document, "not_taken": _build_remarks(found.remarks)})
        return 0
    if document:
        print(render_block(document, 0, spread=True))
    print("\n".join(_format_remarks(found.remarks)), file=sys.stderr, end="\n" if found.remarks else "")
    what = f"paste it into {location.path}" if document else f"nothing that {location.path} does not have"
    print(f"{style_text('note:', 33, sys.stderr)} {escape(what)}", file=sys.stderr)
    return 0


def _format_remarks(remarks: Iterable[Remark]) -> Iterator[str]:
    for one in remarks:
        yield f"{escape(str(one.place))}: {style_text('not taken:', 33, sys.stdout)} {escape(one.what)}"


def _build_remarks(remarks: Iterable[Remark]) -> list[dict[str, str]]:
    return [{"place": str(one.place), "what": one.what} for one in remarks]


def _choose_target(config: Config, out: Path | None) -> tuple[RepositoryConfig, Path, str]:
    """The repository that the file goes into, the top of its work tree, and the file's path from there."""
    found = [(one, Path(os.path.abspath(one.path))) for one in config.repository]
    if out is None:
        with_site = [pair for pair in found if pair[0].site is not None] or found
        if len(with_site) > 1:
            raise typer.BadParameter("there are several repositories: say where the file goes with --out")
        repository, top = with_site[0]
        return repository, top, repository.site.file if repository.site is not None else DEFAULT_FILE
    path = Path(os.path.abspath(out))
    for repository, top in found:
        if path.is_relative_to(top) and path != top:
            return repository, top, path.relative_to(top).as_posix()
    raise typer.BadParameter(f"--out {out} lies in no configured repository")


def _check_target(top: Path, path: str) -> None:
    if not (top / ".git").exists():
        raise ConfigInvalid(f"{top} has no work tree to write into", hint="import into a clone that has one")
    if os.path.lexists(top / path):
        raise ConfigInvalid(
            f"{path} is there already; nothing was read or written",
            hint="name another file with --out, or move this one away",
        )


def _build_files(imported: SiteImport, path: str, lock_place: str) -> dict[str, str]:
    """The texts to write by path, the site file last: without it the others have no effect."""
    files = {name: text for name, text in imported.files.items() if name != path}
    if lock_place == "repo":
        files[find_lock_path(path)] = render_lock(imported.lock)
    return {**files, path: imported.files[path]}


def _build_schema_file(top: Path, path: str) -> dict[str, str]:
    """The JSON Schema that the site file's first line names for editors, unless the file exists."""
    named = str(PurePosixPath(path).parent / SCHEMA)
    return {} if os.path.lexists(top / named) else {named: render_schema("site")}


def _write_files(top: Path, files: Mapping[str, str]) -> None:
    """Write new files. A file that an interrupted run wrote with the same text is accepted."""
    for path, text in files.items():
        try:
            create_file(top, path, text.encode())
        except FileExistsError:
            if read_file(top, path) != text.encode():
                hint = "each site file has a directory of its own: name one with --out DIRECTORY/site.yaml"
                raise ConfigInvalid(f"{path} is there already", hint=hint) from None
        except OSError as error:
            raise ConfigInvalid(f"{path} cannot be written: {error.strerror}") from error


def _save_lock(workspace: Workspace, imported: SiteImport) -> None:
    lock = LockWriter(workspace, imported.file, "state")
    lock.load()
    lock.save(imported.lock.items)


def _format_import(
    imported: SiteImport, repository: RepositoryConfig, files: Mapping[str, str], config_file: Path | None
) -> list[str]:
    lines = []
    for one in imported.findings:
        word = style_text(one.severity, 31 if one.severity == "error" else 33, sys.stdout)
        lines.append(f"{escape(one.path)}:{one.line}:{one.column}: {word} {one.code}: {escape(one.message)}")
    lines += _format_remarks(imported.remarks)
    if imported.unexpected:
        lines += style_lines((style, text) for style, text in render_plan_text(imported.plan) if style != "hint")
        lines.append(
            f"{style_text('!', 31, sys.stdout)} the file does not say all of this: read the plan before you commit it"
        )
    lines.append(f"Wrote {escape(', '.join(files))}.")
    state = "as on the site: the plan is empty"
    if imported.errors:
        errors = format_count(imported.errors, "error")
        state = f"and the file has {errors}: nothing of it can be applied until they are mended"
    elif imported.plan:
        state = f"and the plan has {format_count(len(imported.plan.steps), 'step')}: see syncd site plan"
    count = len(imported.lock.items)
    lines.append(f"{format_count(count, 'resource')} {'is' if count == 1 else 'are'} syncd's now, {state}.")
    outside = ", ".join(format_count(count, kind) for kind, count in imported.outside.items())
    lines += [f"Outside of the file, and left alone: {outside}."] if outside else []
    if repository.site is None:
        lines.append(f"Next: {escape(format_missing_table(config_file, list(files)[-1]))}")
    lines.append(f"Next: git add {shlex.join(files)} && git commit, then syncd site plan")
    return lines


def _build_document(imported: SiteImport) -> dict[str, Any]:
    return {
        "owned": len(imported.lock.items),
        "outside": dict(imported.outside),
        "not_taken": _build_remarks(imported.remarks),
        "plan": render_plan_document(imported.plan),
    }
