"""Tests in the editors themselves; ``make test-editors`` sets the editors up and runs them."""
