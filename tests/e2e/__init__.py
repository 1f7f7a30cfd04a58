"""Real server processes, driven over stdin and stdout."""
