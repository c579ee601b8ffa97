"""The page's table is made from the curves: `python tests/docs/test_curves_page.py` prints it."""

from boundshift.curves import CURVES
from tests.docs.pages import between, read

# What the curves say of themselves in one line, set as mathematics.
FORMULAS = {
    "blend": r"$\frac{n}{n + m}$ smoothed $+\ \frac{m}{n + m}$ logistic, class by class",
    "clopper-pearson": r"the quantile at the confidence of $\mathrm{Beta}(k + 1,\ n - k)$",
    "empirical": r"$\frac{k}{n}$",
    "logistic": r"share beyond $t$, each row counted by its calibrated probability of the class",
    "smoothed": r"mean of $\Phi\bigl(\frac{s - t}{h}\bigr)$ with $h = b\,\sigma\,n^{-1/5}$, "
    r"$\sigma = \min\bigl(\mathrm{sd}, \frac{2\,\mathrm{IQR}}{1.349}\bigr)$",
    "support": r"$\frac{m}{n} + \frac{1 - \delta}{n - m + 1} + \delta$ with $m$ points removed and "
    r"$\delta = e^{-((t - \mathrm{edge})/a - c)^2/2}$, at its own threshold",
}


def table() -> str:
    lines = [
        "| name | claim | U(t), with k of n points on the wrong side | assumes |",
        "|---|---|---|---|",
    ]
    for name, curve in CURVES.items():
        claim = curve.claim.name.lower().replace("_", " ")
        lines.append(f"| `{name}` | {claim} | {FORMULAS[name]} | {curve.assumptions} |")
    return "\n".join(lines) + "\n"


def test_the_page_shows_every_curve() -> None:
    assert between(read("curves_and_rules.md"), "curves") == table()


if __name__ == "__main__":
    print(table(), end="")
