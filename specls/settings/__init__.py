"""What can be set, by whom, and what is allowed."""

from specls.settings.definition import camel
from specls.settings.reading import Problem, parse
from specls.settings.values import DEFINITIONS, Settings, differ_in_models

__all__ = ["DEFINITIONS", "Problem", "Settings", "camel", "differ_in_models", "parse"]
