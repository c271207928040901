"""What the settings of the toy models share."""

OBJECTIVE = r"^(infonce_distance|infonce_dot|.+\.py:\w+)$"
"""The paper's loss, that of the authors' toy code, or a user's own as `path/mine.py:my_loss`."""
