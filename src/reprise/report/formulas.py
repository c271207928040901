"""Formulas, typeset before a page is read: MathML, which browsers show without a script."""

import re
from xml.etree import ElementTree

from latex2mathml import converter

from reprise.errors import RepriseError

_CHILDREN = {
    **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
"""Element -> number of its parts; the converter leaves out those that the LaTeX does not give."""
_PRIMES = (
    (re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>&#x02032;</mi></msup>"), r"<mrow>\1<mo>&#x02032;</mo></mrow>"),
    (
        re.compile(r"<msubsup>(<mi>[^<]*</mi>)(<m[in]>[^<]*</m[in]>)<mi>&#x02032;</mi></msubsup>"),
        r"<mrow><msub>\1\2</msub><mo>&#x02032;</mo></mrow>",
    ),
)
"""The converter makes a prime a superscript, though its sign is small and raised: it can hardly be seen."""


def mathml(latex: str) -> str:
    """A formula as a `<math>` element, inline but with fractions and limits in full size.

    Args:
        latex: in math mode, without dollar signs.

    Raises:
        RepriseError: if there is nothing to set, a command is unknown or a part is missing.
    """
    try:
        made = converter.convert(latex).replace("<math ", '<math displaystyle="true" ', 1)
        for scripts, upright in _PRIMES:
            made = scripts.sub(upright, made)
        elements = list(ElementTree.fromstring(made).iter())
    except Exception as error:  # the converter's errors have no class in common
        reason = str(error) or type(error).__name__
        raise RepriseError(f"LaTeX that cannot be set: {latex!r}: {reason}") from None
    for element in elements:
        tag = element.tag.rpartition("}")[2]
        if "\\" in (element.text or ""):
            raise RepriseError(f"LaTeX that cannot be set: {latex!r}: unknown command {element.text}")
        if tag == "merror" or len(element) != _CHILDREN.get(tag, len(element)):
            raise RepriseError(f"LaTeX that cannot be set: {latex!r}: a part of <{tag}> is missing")
    return made
