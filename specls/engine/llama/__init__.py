"""The engine's Protocols on top of llama.cpp. Nothing else imports ``llama_cpp``."""

import os

# Before the library is loaded, since OpenMP reads it once: threads that wait for each other spin
# only shortly. On a busy machine the default makes a token take fifty times as long
# (docs/decisions/0004-short-spins.md).
os.environ.setdefault("GOMP_SPINCOUNT", "100")
