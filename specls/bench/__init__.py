"""Measurements of the service: what a key costs, and how good the completions are."""
