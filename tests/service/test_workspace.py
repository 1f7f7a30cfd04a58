"""What may be read of a workspace, and what is never read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from specls.context.document import Snapshot
from specls.context.text import Position, Text
from specls.core import CancelToken
from specls.errors import Cancelled
from specls.service.exclude import Exclusion
from specls.service.folders import Folders, Place
from specls.service.workspace import MOST_BYTES, Pool, View, Workspace

MAIN = "import other\nfrom pkg.inner import thing\n"


def write(folder: Path, name: str, text: str = "alpha = 1\n") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def document(path: Path | str, text: str, language: str = "python") -> Snapshot:
    uri = path.as_uri() if isinstance(path, Path) else path
    return Snapshot(uri, 1, language, Text(text))


def pool_of(
    folder: Path,
    text: str = MAIN,
    opened: Sequence[Snapshot] = (),
    *,
    exclude: Sequence[str] = (),
    visited: Sequence[tuple[str, int]] = (),
    workspace: Workspace | None = None,
) -> Pool:
    """What there is for the file main.py in the folder."""
    main = document(folder / "main.py", text)
    roots = (folder.as_uri(),)
    view = View(Exclusion(exclude, (), roots), (main, *opened), tuple(visited), roots)
    return (workspace or Workspace()).pool(view, main, Position(0, 0), CancelToken())


def paths(pool: Pool) -> set[str]:
    return {chunk.path for chunk in pool.chunks}


def test_imported_files_are_read(tmp_path: Path) -> None:
    """Files of the workspace that the document imports, and no others."""
    for name in ("other.py", "pkg/inner.py", "unrelated.py"):
        write(tmp_path, name)
    pool = pool_of(tmp_path)
    assert paths(pool) == {"other.py", "pkg/inner.py"}
    assert pool.wish.imported == {"other.py", "pkg/inner.py"}
    assert (pool.repository, pool.path) == (tmp_path.name, "main.py")


def test_open_documents_come_as_they_are_in_the_editor(tmp_path: Path) -> None:
    """Of an open document, its text there counts and not the one on disk."""
    path = write(tmp_path, "other.py", "on_disk = 1\n")
    pool = pool_of(tmp_path, opened=[document(path, "in_editor = 1\n")])
    assert [chunk.text for chunk in pool.chunks] == ["in_editor = 1\n"]
    assert pool.wish.imported == {"other.py"}


def test_an_open_document_needn_t_be_saved(tmp_path: Path) -> None:
    """A document that was never written is found by an import, too."""
    pool = pool_of(tmp_path, opened=[document(tmp_path / "other.py", "x1 = 1\n")])
    assert pool.wish.imported == {"other.py"}


def test_what_is_open_elsewhere_is_told_without_its_folder(tmp_path: Path) -> None:
    """Open documents from outside count; where they lie isn't told."""
    outside = document(tmp_path / "elsewhere" / "notes.py", "alpha = 2\n")
    untitled = document("untitled:Untitled-1", "alpha = 3\n")
    pool = pool_of(tmp_path / "project", opened=[outside, untitled])
    assert paths(pool) == {"notes.py", "Untitled-1"}


def test_nothing_outside_of_the_workspace_is_read(tmp_path: Path) -> None:
    """Not through a relative import, a link, or because somebody was there."""
    project = tmp_path / "project"
    secret = write(tmp_path, "secret.py")
    write(project, "fine.py")
    (project / "other.py").symlink_to(secret)
    (project / "pkg").symlink_to(tmp_path)
    write(tmp_path, "inner.py")
    text = MAIN + "from ..secret import x\nimport fine\n"
    assert paths(pool_of(project, text, visited=[(secret.as_uri(), 0)])) == {"fine.py"}


def test_secrets_are_never_read(tmp_path: Path) -> None:
    """What may hold secrets isn't read from disk, nor from an open document."""
    write(tmp_path, "other.py")
    env = write(tmp_path, ".env", "alpha = secret\n")
    write(tmp_path, "secrets/inner.py")
    text = "import other\nfrom secrets.inner import thing\n"
    opened = [document(env, "alpha = secret\n", "dotenv")]
    visited = [(env.as_uri(), 0)]
    assert paths(pool_of(tmp_path, text, opened, visited=visited)) == {"other.py"}


def test_excluded_files_are_never_read(tmp_path: Path) -> None:
    """What a person excludes isn't read from disk, nor from an open document."""
    write(tmp_path, "other.py")
    inner = write(tmp_path, "pkg/inner.py")
    assert paths(pool_of(tmp_path, exclude=["/pkg/"])) == {"other.py"}
    opened = [document(inner, "alpha = 1\n")]
    assert paths(pool_of(tmp_path, opened=opened, exclude=["inner.py"])) == {"other.py"}


def test_what_git_ignores_is_not_read(tmp_path: Path) -> None:
    """By the ignore files of all folders above a file, the innermost one that says anything."""
    for name in ("other.py", "pkg/inner.py", "pkg/kept.py", "made/a.py"):
        write(tmp_path, name)
    write(tmp_path, ".gitignore", "/other.py\nkept.py\nmade/\n")
    write(tmp_path, "pkg/.gitignore", "inner.py\n!kept.py\n")
    write(tmp_path, "made/.gitignore", "!a.py\n")
    text = MAIN + "from pkg import kept\nfrom made import a\n"
    assert paths(pool_of(tmp_path, text)) == {"pkg/kept.py"}
    opened = [document(tmp_path / "made" / "a.py", "alpha = 1\n")]
    assert paths(pool_of(tmp_path, text, opened)) == {"pkg/kept.py"}


def test_the_ignore_files_of_the_whole_repository_count(tmp_path: Path) -> None:
    """Where the workspace is a folder of a repository, what stands above it counts as well."""
    write(tmp_path, ".gitignore", "other.py\n")
    write(tmp_path, ".git/info/exclude", "inner.py\n")
    write(tmp_path, "sub/other.py")
    write(tmp_path, "sub/pkg/inner.py")
    write(tmp_path, "sub/fine.py")
    assert paths(pool_of(tmp_path / "sub", MAIN + "import fine\n")) == {"fine.py"}


def test_a_changed_ignore_file_counts_at_once(tmp_path: Path) -> None:
    """Nothing that was remembered is used against it."""
    workspace = Workspace()
    write(tmp_path, "other.py")
    assert paths(pool_of(tmp_path, workspace=workspace)) == {"other.py"}
    write(tmp_path, ".gitignore", "other.py\n")
    assert paths(pool_of(tmp_path, workspace=workspace)) == set()


def test_large_and_binary_files_are_not_read(tmp_path: Path) -> None:
    """A size limit holds, and what isn't text in UTF-8 is left out."""
    write(tmp_path, "other.py", "alpha = 1\n" * (MOST_BYTES // 10 + 1))
    write(tmp_path, "pkg/__init__.py", "")
    (tmp_path / "pkg" / "inner.py").write_bytes(b"alpha = 1\n\0")
    (tmp_path / "latin.py").write_bytes("café = 1\n".encode("latin-1"))
    assert paths(pool_of(tmp_path, MAIN + "import latin\n")) == set()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only where there are pipes")
def test_a_notebook_is_told_as_its_cells(tmp_path: Path) -> None:
    """The file of a notebook isn't read; while it's open, its code counts like any other."""
    path = write(tmp_path, "book.ipynb", '{"cells": []}\n')
    uri = f"{path.as_uri()}#python"
    assert paths(pool_of(tmp_path, visited=[(uri, 0)])) == set()
    pool = pool_of(tmp_path, opened=[document(uri, "x1 = 1\n")], visited=[(uri, 0)])
    assert [(chunk.path, chunk.text) for chunk in pool.chunks] == [("book.ipynb", "x1 = 1\n")]


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    """What is no file can't make anybody wait."""
    os.mkfifo(tmp_path / "other.py")
    assert paths(pool_of(tmp_path)) == set()


def test_where_somebody_was_is_read_again(tmp_path: Path) -> None:
    """A file of the workspace that was closed lately is read, and the lines are told."""
    path = write(tmp_path, "seen.py", "alpha = 1\n" * 3)
    pool = pool_of(tmp_path, visited=[(path.as_uri(), 2)])
    assert paths(pool) == {"seen.py"}
    assert pool.wish.visited == {"seen.py": [2]}


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    """What was read is remembered only while the file stays."""
    workspace = Workspace()
    write(tmp_path, "other.py", "alpha = 1\n")
    assert [chunk.text for chunk in pool_of(tmp_path, workspace=workspace).chunks] == [
        "alpha = 1\n"
    ]
    write(tmp_path, "other.py", "alpha = 100\n")
    assert [chunk.text for chunk in pool_of(tmp_path, workspace=workspace).chunks] == [
        "alpha = 100\n"
    ]


def test_it_stops_when_somebody_waits(tmp_path: Path) -> None:
    """Between two files, a cancellation is noticed."""
    cancel = CancelToken()
    cancel.cancel()
    main = document(tmp_path / "main.py", MAIN)
    view = View(Exclusion(), (main, document(tmp_path / "b.py", "x1 = 1\n")), (), ())
    with pytest.raises(Cancelled):
        Workspace().pool(view, main, Position(0, 0), cancel)


def test_without_a_folder_only_open_documents_count(tmp_path: Path) -> None:
    """A file that belongs to no workspace has no imports that are read."""
    write(tmp_path, "other.py")
    main = document(tmp_path / "main.py", MAIN)
    pool = Workspace().pool(View(Exclusion(), (main,)), main, Position(0, 0), CancelToken())
    assert pool.chunks == ()
    assert (pool.path, pool.repository) == ("main.py", tmp_path.name)


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("http://[", "["),
        ("file://[x/a.py", "a.py"),
        ("file:///\ud800/a.py", "a.py"),
        ("file:///a\0.py", "a.py"),
        ("untitled:Untitled-1", "Untitled-1"),
        ("", ""),
    ],
)
def test_a_name_that_is_no_file_has_a_place(uri: str, shown: str) -> None:
    """Clients name documents as they like; what is no file is in no folder."""
    assert Folders(["file://[x", "file:///tmp"]).place_of(uri) == Place(None, None, shown)


def test_a_secret_that_is_opened_through_a_link_is_not_told(tmp_path: Path) -> None:
    """What counts is what the file is called where it lies."""
    secret = write(tmp_path, ".env", "TOKEN=1\n")
    link = tmp_path / "settings.py"
    link.symlink_to(secret)
    other = write(tmp_path, "plain.py")
    opened = [document(link, "TOKEN=1\n"), document(other, "alpha = 1\n")]
    assert paths(pool_of(tmp_path, "x = 1\n", opened)) == {"plain.py"}
