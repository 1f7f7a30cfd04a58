"""Which request runs now, on which thread, and what becomes of it when it's no longer wanted."""
