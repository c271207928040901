"""The one exception for mistakes that a user can mend."""


class RepriseError(Exception):
    """What is wrong, where, what was expected and what to do: printed as one message, without a traceback."""
