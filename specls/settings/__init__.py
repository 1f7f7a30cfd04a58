"""What can be set, by whom, and what is allowed."""

from specls.settings.definition import camel
from specls.settings.reading import Problem, parse
from specls.settings.values import DEFINITIONS, Settings

__all__ = ["DEFINITIONS", "Problem", "Settings", "camel", "parse"]
