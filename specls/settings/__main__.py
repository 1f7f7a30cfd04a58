"""``python -m specls.settings`` prints docs/settings.md, as `specls settings` does."""

from specls.settings.pages import markdown

if __name__ == "__main__":
    print(markdown(), end="")
