"""Which models exist, where they come from, and whether a file is the right one."""
