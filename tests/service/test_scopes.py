"""Settings of the workspace's folders."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from specls.service.projects import read_all, texts_of
from specls.service.scopes import Scopes
from specls.settings import Problem, Settings
from tests.service.scripted import Bench, place, until

ROOT = "file:///home/me/project"
INNER = f"{ROOT}/packages/one/"
BASE, OUTER, INSIDE = (Settings(prefetch=False, max_tokens=count) for count in (64, 3, 2))


@pytest.mark.parametrize(
    ("uri", "settings"),
    [
        (f"{ROOT}/a.py", OUTER),
        (f"{ROOT}/packages/one/a.py", INSIDE),
        (f"{ROOT}/packages/onetwo/a.py", OUTER),
        ("file:///home/me/project2/a.py", BASE),
        ("untitled:1", BASE),
    ],
)
def test_the_innermost_folder_decides(uri: str, settings: Settings) -> None:
    """A document has the settings of the folder that it's in, or those for all."""
    scopes = Scopes(BASE, {ROOT: OUTER, INNER: INSIDE})
    assert scopes.of(uri) == settings


def test_each_folder_excludes_its_own() -> None:
    """Patterns and languages of one folder say nothing of another's files."""
    folders = {
        f"{ROOT}/a": Settings(exclude=("/gen/",)),
        f"{ROOT}/b": Settings(enable=(("go", False),)),
    }
    exclusion = Scopes(Settings(exclude=("*.txt",)), folders).exclusion([*folders, f"{ROOT}/c"])
    assert exclusion.reason(f"{ROOT}/a/gen/x.py", "python")
    assert exclusion.reason(f"{ROOT}/b/gen/x.py", "python") is None
    assert exclusion.reason(f"{ROOT}/b/x.go", "go")
    assert exclusion.reason(f"{ROOT}/a/x.go", "go") is None
    assert exclusion.reason(f"{ROOT}/c/x.txt", "plaintext")
    assert exclusion.reason(f"{ROOT}/a/x.txt", "plaintext") is None
    assert exclusion.reason(f"{ROOT}/a/.env", "plaintext")


def test_a_file_behind_a_link_is_in_its_folder(tmp_path: Path) -> None:
    """A folder that's opened through a link has its rules for the real paths as well."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    root = (tmp_path / "link").as_uri()
    exclusion = Scopes(BASE, {root: Settings(exclude=("/gen/",))}).exclusion([root])
    real = (tmp_path / "real").resolve()
    assert exclusion.reason((real / "gen" / "x.py").as_uri(), "python")
    assert exclusion.reason_in(real, "gen/x.py", "python")
    assert exclusion.reason_in(tmp_path, "gen/x.py", "python") is None
    assert exclusion.shows("x.py")
    assert not exclusion.shows("gen/x.py")


async def test_completions_follow_their_folder(bench: Bench) -> None:
    """Two folders have suggestions of two lengths, at once and without a load."""
    await bench.service.configure(BASE)
    await bench.service.configure(BASE, {ROOT: OUTER, INNER: Settings(enabled=False)})
    assert await bench.complete(uri=f"{ROOT}/a.py") == "hel"
    assert await bench.complete(uri="file:///elsewhere.py") == "hello"
    assert await bench.complete(uri=f"{INNER}a.py") is None
    assert len(bench.loaded) == 1


async def test_what_was_shown_with_other_settings_is_not_shown_again(bench: Bench) -> None:
    """A suggestion that would be too long now is written anew."""
    await bench.service.configure(BASE)
    bench.service.opened(place("x = 1\n|")[0])
    assert await bench.complete() == "hello"
    await bench.service.configure(OUTER)
    assert await bench.complete() == "hel"


async def test_switching_off_ends_what_runs(bench: Bench) -> None:
    """A request on its way is answered with nothing, and a change is followed by no work."""
    await bench.service.configure(BASE)
    bench.service.opened(place("x = 1\n|")[0])
    await until(lambda: bench.service.idle)
    bench.go.clear()
    bench.busy.clear()
    request = asyncio.create_task(bench.complete("x = 12\n|"))
    await until(bench.busy.is_set)
    await bench.service.configure(Settings(enabled=False))
    assert await request is None
    bench.go.set()
    await until(lambda: bench.service.idle)
    bench.service.changed(*place("x = 123\n|"))
    assert bench.service.idle
    assert not bench.service._ahead.waits
    assert bench.service.why_not("file:///a") == "the setting enabled is false"


def test_project_files_are_read(tmp_path: Path) -> None:
    """Each folder's own; what can't be read is one problem, and what isn't there is none."""
    for name in ("good", "latin", "long", "folder", "none"):
        (tmp_path / name).mkdir()
    (tmp_path / "good" / ".specls.toml").write_bytes(b"\xef\xbb\xbfmaxLines = 3\r\n")
    (tmp_path / "latin" / ".specls.toml").write_bytes(b"# a\n# caf\xe9\n")
    (tmp_path / "long" / ".specls.toml").write_bytes(b"#" * 70_000)
    (tmp_path / "folder" / ".specls.toml").mkdir()
    roots = {each.name: each.as_uri() for each in sorted(tmp_path.iterdir())}
    files = read_all(texts_of([*roots.values(), "untitled:x"]), {}, {})
    names = {uri: name for name, uri in roots.items()}
    assert {names[uri]: (dict(each.values), each.problems) for uri, each in files.items()} == {
        "good": ({"max_lines": 3}, ()),
        "latin": ({}, (Problem("line 2", "this isn't UTF-8"),)),
        "long": ({}, (Problem("line 1", "it's longer than 65536 bytes, and isn't read"),)),
    }
