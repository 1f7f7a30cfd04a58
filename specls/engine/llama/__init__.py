"""The engine's Protocols on top of llama.cpp. Nothing else imports ``llama_cpp``."""
