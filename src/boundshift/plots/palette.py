"""The colours of all figures, on light and on dark paper.

Blue and vermilion are Okabe and Ito's, which colour-blind readers can tell apart; on dark paper
they are lighter. No figure relies on colour alone: classes also differ by place, name or mark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from boundshift.validation import as_choice

__all__ = ["DARK", "LIGHT", "Palette", "Theme", "choose_palette"]

Theme = Literal["auto", "light", "dark"]


@dataclass(frozen=True)
class Palette:
    """Colours by what they are for.

    Parameters
    ----------
    surface : str
        Paper.
    ink, soft, line : str
        Text and boundaries, secondary text, thin lines.
    classes : tuple of str
        The (negative, positive) class.
    pale : tuple of str
        Areas of the (negative, positive) class.
    """

    surface: str
    ink: str
    soft: str
    line: str
    classes: tuple[str, str]
    pale: tuple[str, str]


LIGHT = Palette(
    surface="#FFFFFF",
    ink="#1A1A1A",
    soft="#5F6368",
    line="#D8D8D8",
    classes=("#0072B2", "#D55E00"),
    pale=("#DCEBF5", "#FAE3D6"),
)
DARK = Palette(
    surface="#16181B",
    ink="#F0F0EE",
    soft="#A9ADB3",
    line="#3C4046",
    classes=("#62B5EA", "#FF9A57"),
    pale=("#1D3648", "#4A2F20"),
)


def choose_palette(theme: Theme, paper: tuple[float, ...]) -> Palette:
    """Return the palette of a theme; "auto" looks at the paper.

    Parameters
    ----------
    theme : {"auto", "light", "dark"}
        Which palette.
    paper : tuple of float
        Red, green, blue and maybe opacity, from 0 to 1.

    Examples
    --------
    >>> choose_palette("auto", (0.0, 0.0, 0.0)) is DARK
    True
    """
    as_choice("theme", theme, ("auto", "light", "dark"))
    if theme != "auto":
        return LIGHT if theme == "light" else DARK
    red, green, blue = paper[:3]
    return DARK if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.4 else LIGHT
