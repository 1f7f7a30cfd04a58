"""The protocol: LSP types in, plain values out. Nothing else imports ``pygls``."""
