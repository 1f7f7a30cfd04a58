"""Token ids in, token ids out: sessions, drafts, verification, the decode loop."""
