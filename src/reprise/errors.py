"""The one exception for mistakes that a user can mend."""

INTERRUPTION = "reprise: interrupted; what was finished is kept, and the same command resumes"
"""What a command says that Ctrl-C has ended."""


class RepriseError(Exception):
    """What is wrong, where, what was expected and what to do: printed as one message, without a traceback."""
