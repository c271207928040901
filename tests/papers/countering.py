"""Counter-cases of claims that hold in several cells."""

from reprise.evidence.judgement import judge


def unbroken(claim, worlds):
    """The cells that none of these tables contradicts: what they read could be another's."""
    broken = {
        name
        for world in worlds
        for name, cell in judge(claim, world).cells.items()
        if cell.verdict == "contradicted"
    }
    return set(claim.cells) - broken
