"""Numbers as people read them."""

import math

NONE = "—"


def finite(value: float | None) -> float | None:
    """The number, or None for NaN and infinity."""
    return float(value) if value is not None and math.isfinite(value) else None


def number(value: float | None) -> str:
    """Formats a number with four significant digits, an exponent if it is very small or large, or a dash for
    NaN and None."""
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    value += 0.0  # no minus before a zero
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        places = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
        text = f"{value:.{places}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        mantissa, exponent = f"{value:.3e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return text.replace("-", "−")


def rounded(value: float | None, uncertainty: float | None) -> str:
    """Formats a number to two digits of its uncertainty, such as half the width of its interval; without
    one, as `number` does."""
    if value is None or not math.isfinite(value) or not uncertainty or not math.isfinite(uncertainty):
        return number(value)
    places = 1 - math.floor(math.log10(abs(uncertainty)))
    if abs(value) < 1e-4 > abs(uncertainty) or places > 8:
        return number(float(f"{value:.1e}"))
    text = f"{round(value, places):.{max(0, places)}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def interval(value: float | None, low: float | None, high: float | None) -> str:
    """A number with its interval, if it has one, both to two digits of the interval's half width."""
    if low is None or high is None or math.isnan(low) or low == high == value:
        return number(value)
    half = (high - low) / 2
    return f"{rounded(value, half)} [{rounded(low, half)}, {rounded(high, half)}]"


def duration(minutes: float) -> str:
    """Formats a duration in its two largest units: `3 min 20 s`."""
    seconds = 60 * minutes
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole, rest = divmod(round(seconds), 60)
    return f"{whole} min {rest} s" if whole < 60 else f"{whole // 60} h {whole % 60} min"


def percent(share: float | None) -> str:
    return NONE if share is None or math.isnan(share) else f"{100 * share:.1f} %"
