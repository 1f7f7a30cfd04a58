"""The subcommands of `specls`: each module registers its own arguments and prints its own words."""
