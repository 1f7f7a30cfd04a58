"""Patterns of git's ignore files: what they match, and that none takes long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from specls.settings.patterns import spec_of

PIECES = st.sampled_from(["a", "b", "*", "**", "?", "/", ".", "[ab]", "\\*"])
LINES = st.lists(PIECES, min_size=1, max_size=9).map("".join)
NAMES = st.text("ab/.*", min_size=1, max_size=9)


@given(LINES, NAMES)
def test_the_same_is_matched(line: str, name: str) -> None:
    """What a library for it finds is found, and nothing else."""
    try:
        expected = GitIgnoreSpec.from_lines([line]).check_file(name).include
    except ValueError:
        return
    assert spec_of([line]).check_file(name).include == expected


def test_no_pattern_takes_long() -> None:
    """Forty stars, which would be shared among a name's characters until the end of days."""
    spec = spec_of(["*?" * 40 + "*b", "*a" * 40 + "*b"])
    assert spec.check_file("x/" + "a" * 250 + ".py").include is None
    assert spec.check_file("x/" + "a" * 250 + "b").include is True
