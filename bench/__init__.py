"""Programs that measure and show. Nothing here is imported by specls."""
