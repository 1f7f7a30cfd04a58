"""Pure text: documents, windows, prompt layouts, stop rules, filters. No I/O and no token ids."""
