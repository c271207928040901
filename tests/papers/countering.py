"""Counter-cases of claims that hold in several cells."""

from reprise.evidence.claim import ALONE
from reprise.evidence.judgement import judge


def unbroken(claim, worlds):
    """The cells that none of these tables contradicts: what they read could be another's."""
    found = [judge(claim, world) for world in worlds]
    broken = {
        name
        for each in found
        for name, cell in (each.cells or {ALONE: each}).items()
        if cell.verdict == "contradicted"
    }
    return set(claim.cells) - broken
