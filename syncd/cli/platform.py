"""`platform serve`, `import` and `export`: the embedded platform from the command line."""

from pathlib import Path

from syncd.cli.output import emit


def run_server(host: str, port: int, data: Path) -> None:
    """Serve until SIGTERM or SIGINT; the URL is the first line of stdout."""
    from syncd.platform.server import serve

    serve(data, host=host, port=port, announce=lambda url: print(url, flush=True))


def import_space(directory: Path, data: Path, *, title: str, space: str, as_json: bool) -> None:
    """Import a directory and print the ids that it got."""
    from syncd.platform.importing import import_directory
    from syncd.platform.storage import Storage

    with Storage(data) as storage:
        storage.bootstrap()
        made = import_directory(storage, directory, title=title or None, space=space or None)
    if as_json:
        emit({"space": made.space, "revision": made.revision, "changed": made.changed})
    else:
        print(f"space {made.space}\nrevision {made.revision}")


def export_space(space: str, directory: Path, data: Path) -> None:
    """Export a space and print how many files it has."""
    from syncd.platform.exporting import export_directory
    from syncd.platform.storage import Storage

    with Storage(data) as storage:
        count = export_directory(storage, space, directory)
    print(f"{count} files in {directory}")
