"""The replica engine's speed beside plain loops over one replica, in one run."""
