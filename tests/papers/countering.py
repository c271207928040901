"""What refutes a claim in tests: the data, and the cells that they reach."""

from reprise.evidence.claim import ALONE
from reprise.evidence.judgement import is_refuted, judge


def unbroken(claim, worlds):
    """The cells that none of these tables speaks against: what they read could be another's."""
    found = [judge(claim, world) for world in worlds]
    broken = {
        name
        for each in found
        for name, cell in (each.cells or {ALONE: each}).items()
        if cell.verdict == "contradicted" or is_refuted(claim, each)
    }
    return set(claim.cells) - broken


def refuted(claim, tables):
    """Tells if tables speak against a sentence as far as its words allow: they contradict it, or a cell of a
    tendency, or a search does not find it."""
    found = judge(claim, tables)
    return is_refuted(claim, found) or found.every == "contradicted"
