"""Files begun by `reprise new`: one test says what is left to write, and all others are green."""

import unwritten


def test_nothing_that_was_begun_is_left_to_write():
    places = unwritten.places()
    assert not places, "\n".join(["begun by `reprise new`, and left to you:", *places])
