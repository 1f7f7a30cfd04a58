"""What is never read: secrets by their names, and what a person excludes."""

from __future__ import annotations

import pytest

from specls.service.exclude import SECRETS, Exclusion

ROOT = "file:///home/me/project"


def excluded(
    path: str,
    *patterns: str,
    enable: tuple[tuple[str, bool], ...] = (),
    language: str = "python",
) -> bool:
    exclusion = Exclusion(patterns, enable, [ROOT])
    return exclusion.reason(f"{ROOT}/{path}", language) is not None


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".env.local",
        ".env.production",
        "deploy/.env",
        "prod.env",
        ".ENV",
        ".envrc",
        "server.key",
        "tls/server.pem",
        "tls/Server.PEM",
        "release.keystore",
        "id_rsa",
        "id_rsa.pub",
        "keys/id_ed25519",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".aws/credentials",
        ".aws/config",
        "home/.ssh/config",
        "credentials.json",
        "secrets.yaml",
        "config/secrets.yml",
        "secrets/database.yml",
        "terraform.tfstate",
        "prod.tfvars",
        "my%20folder/.env",
    ],
)
def test_secrets_are_never_read(path: str) -> None:
    """Files with names that secrets have are excluded, at any depth and in any case."""
    assert excluded(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        ".env.sample",
        "deploy/.env.template",
        "env.py",
        "environment.ts",
        "keyboard.py",
        "src/key.rs",
        "pem.go",
        "secret.py",
        "secrets_test.go",
        "package.json",
        "settings.json",
        "credential_store.py",
        "ssh/client.py",
    ],
)
def test_what_only_sounds_like_a_secret_is_read(path: str) -> None:
    """Examples of environments and sources about keys are completed like others."""
    assert not excluded(path)


def test_files_outside_of_the_workspace_are_looked_at_as_well() -> None:
    """A secret is one wherever it lies, and whatever kind of URI it has."""
    exclusion = Exclusion((), (), [ROOT])
    assert exclusion.reason("file:///home/me/.ssh/config", "plaintext")
    assert exclusion.reason("vscode-remote://host/home/me/.env", "plaintext")
    assert exclusion.reason("file:///c%3A/Users/me/.env", "plaintext")
    assert exclusion.reason("untitled:Untitled-1", "python") is None
    assert exclusion.reason("", "python") is None


@pytest.mark.parametrize(
    ("path", "patterns", "answer"),
    [
        ("build/out.py", ("build/",), True),
        ("src/build/out.py", ("/build/",), False),
        ("a/generated_x.py", ("generated_*",), True),
        ("a/generated_x.py", ("generated_*", "!generated_x.py"), False),
        (".env", ("!.env",), False),
        (".env.local", ("!.env",), True),
        (".env", ("!.env", "*.env"), True),
        ("Build/out.py", ("build/",), False),
    ],
)
def test_a_person_s_patterns_come_last(
    path: str, patterns: tuple[str, ...], *, answer: bool
) -> None:
    """They are those of git's ignore files: from the workspace's folder, with exceptions."""
    assert excluded(path, *patterns) == answer


@pytest.mark.parametrize(
    ("enable", "language", "answer"),
    [
        ((("markdown", False),), "markdown", True),
        ((("markdown", False),), "python", False),
        ((("*", False), ("python", True)), "python", False),
        ((("*", False), ("python", True)), "go", True),
    ],
)
def test_languages_can_be_switched_off(
    enable: tuple[tuple[str, bool], ...], language: str, *, answer: bool
) -> None:
    """By their ids, or all but some."""
    assert excluded("a.txt", enable=enable, language=language) == answer


def test_the_innermost_folder_counts() -> None:
    """In a workspace with a folder inside of another, patterns begin at the inner one."""
    exclusion = Exclusion(["/build/"], (), [ROOT, f"{ROOT}/packages/one/"])
    assert exclusion.reason(f"{ROOT}/packages/one/build/x.py", "python")
    assert exclusion.reason(f"{ROOT}/packages/two/build/x.py", "python") is None
    assert exclusion.reason(f"{ROOT}/packages/onetwo/build/x.py", "python") is None


def test_the_reason_says_what_to_do() -> None:
    """A person learns which pattern it was, and how to allow the file."""
    exclusion = Exclusion(["dist/"], [("go", False)], [ROOT])
    secret = exclusion.reason(f"{ROOT}/.env.local", "plaintext")
    assert secret == "it may hold secrets (.env.*); '!.env.*' in the setting exclude allows it"
    assert exclusion.reason(f"{ROOT}/dist/x.py", "python") == (
        "its path matches 'dist/' of the setting exclude"
    )
    assert exclusion.reason(f"{ROOT}/x.go", "go") == "the setting enable switches go off"


def test_each_pattern_is_one_of_git_s() -> None:
    """Built-in patterns are in lower case, as paths are when they're compared."""
    assert len(SECRETS) == len(set(SECRETS))
    assert all(pattern == pattern.casefold() for pattern in SECRETS)


@pytest.mark.parametrize("uri", ["file://[x/a.py", "http://[::1", "", "///", "%%%"])
def test_what_is_no_uri_is_looked_at_all_the_same(uri: str) -> None:
    """A client's nonsense raises nothing."""
    assert Exclusion(("b.py",), (), [uri]).reason(uri, "python") is None
    assert Exclusion(("a.py",)).reason("file://[x/a.py", "python")
