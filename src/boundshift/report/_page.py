"""A report: evidence becomes facts, plain values that JSON can hold, and facts become a page.

The page is one file that needs no network; nothing in it runs but its own script.
"""

from __future__ import annotations

import base64
import hashlib
import json
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache, cached_property
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from boundshift import __version__
from boundshift._guarantees.certificate import Certificate, Origin
from boundshift._guarantees.zone import Zone
from boundshift._result.boundary import Boundary
from boundshift._typing import Facts, FloatArray, Rows
from boundshift._view import ScoreAxis
from boundshift._words import (
    Naming,
    at_least,
    at_most,
    claim_text,
    class_rows,
    column_name,
    number,
    percent,
    sentence,
)
from boundshift._writing import is_special, write_whole
from boundshift.curves._uniform import clopper_pearson, uniform_bound
from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.models._mean import MeanOfModels
from boundshift.models._parts import unwrap
from boundshift.report._classes import class_facts
from boundshift.report._evidence import (
    ColumnUse,
    Doubt,
    Evidence,
    RowDetails,
    check_levels,
    gather_evidence,
    own_probability,
)
from boundshift.report._findings import diagnosis_facts
from boundshift.report._goal import Aim
from boundshift.report._judgement import diagnose, reach_verdict
from boundshift.report._panels import Lead, compare, panels
from boundshift.report._sentences import (
    WHERE,
    explain_metrics,
    goal_facts,
    lead_text,
    verdict_facts,
    zone_facts,
)

if TYPE_CHECKING:
    import jinja2

    from boundshift._classifier import BoundShiftClassifier

# Parts of the page's one script, in the order in which they need each other.
_SCRIPT = ("rates.js", "threshold.js", "goals.js", "take.js")
_WIDTH = 1000
_PLOT = 240
_LANE = 108
_CERTIFICATE = ("status", "certified", "method", "errors", "error_bounds", "wrong")
# In a script element these could end it, open a comment, or end a line of the program.
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def collect_facts(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    boundary: Boundary | None = None,
    old_threshold: float | Literal["auto"] | None = "auto",
    test: tuple[ArrayLike, ArrayLike] | None = None,
    scores: Origin = "held-out",
    comparison: Iterable[Facts] | None = None,
    confidence: float = 0.95,
    model: str | None = None,
    case_name: str | None = None,
    positive_name: str | None = None,
    negative_name: str | None = None,
    title: str | None = None,
    target: str | None = None,
    interval: tuple[float, float] | None = None,
    chosen_here: bool = True,
    prevalence: float | None = None,
    details: RowDetails | None = None,
    columns: Sequence[ColumnUse] = (),
    shell: str | None = None,
    top: str | None = None,
    doubt: Doubt | None = None,
    zone: Zone | None = None,
) -> Facts:
    """Collect everything that a report says, as plain values that JSON can hold.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Two labels, and the scores on which the boundary was chosen.
    pos_label : label, default=None
        The positive class; None takes that of the boundary, or the greater label.
    boundary : Boundary, default=None
        What was chosen, with its labels; None finds it with :func:`~boundshift.find_boundary`.
    old_threshold : float, "auto" or None, default="auto"
        The model's own threshold. "auto" takes 0.5 if all scores lie from 0 to 1, as
        probabilities do. Of other scores nothing is known, as with None: the report then compares
        with nothing.
    test : pair (labels, scores), default=None
        Rows that were used for nothing else, on which the verdict is certified.
    scores : {"held-out", "out-of-fold", "training"}, default="held-out"
        Where `y_score` comes from: rows that the model has not seen, rows left out in
        cross-validation, or rows that it was fitted on.
    comparison : iterable of mappings, default=None
        Rows of the table of methods: "method", and a number for each metric. None compares the
        model's own threshold with the boundary on the rows of the verdict.
    confidence : float, default=0.95
        Of every certified claim, between 0 and 1.
    model : str, default=None
        What the model is called.
    case_name : str, default=None
        What a row is, in the plural: "customers". None says "rows".
    positive_name : str, default=None
        What the positive class is called: an adjective ("sick"), a relative clause ("who churn"),
        or a noun in the plural ("churners", "ill patients"). None uses `target` and the label, as
        in "customers with churn = yes".
    negative_name : str, default=None
        The same for the negative class; with a `positive_name`, None says "other customers".
    title : str, default=None
        Title of the page.
    target : str, default=None
        Name of the column of labels; None takes that of `y_true`, if it has one.
    interval : pair of float, default=None
        What :func:`~boundshift.threshold_interval` returned.
    chosen_here : bool, default=True
        Whether `boundary` was chosen on `y_true` and `y_score`. If not, they are test rows, and
        `test` is left out.
    prevalence : float, default=None
        Share of the positive class where decisions are made, for precision and alarms; None takes
        that of the rule, else that of the rows of the verdict.
    details : RowDetails, default=None
        The model's own probabilities, groups, costs and clusters of the rows of the verdict, in
        their order.
    columns : sequence of ColumnUse, default=()
        How the columns of a table were used.
    shell : str, default=None
        A line that predicts with a threshold, written as ``{threshold}``.
    top : str, default=None
        A shell command that finds the ``{top}`` rows with the highest scores.
    doubt : Doubt, default=None
        Why nothing can be certified on the rows of the verdict, such as rows used in training.
    zone : Zone, default=None
        Two limits, found on scores of rows that the model has not seen, to be counted on the rows
        of the verdict.

    Returns
    -------
    dict
        Strings, numbers, lists and dicts only, without NaN or infinity.

    See Also
    --------
    boundshift.report.Report : The page.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift.report import collect_facts
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [500, 50])
    >>> scores = [rng.normal(3 * y - 2, 1) for _ in range(2)]
    >>> facts = collect_facts(y, scores[0], test=(y, scores[1]), positive_name="sick")
    >>> print(facts["verdict"]["sentences"][0])
    Out of 100 sick rows, the new threshold misses about 8, in the long run at most 17.4% with 95%
    confidence. Out of 100 other rows, the new threshold flags about 4, ...
    """
    evidence = gather_evidence(
        y_true,
        y_score,
        pos_label=pos_label,
        boundary=boundary,
        old_threshold=old_threshold,
        test=test,
        scores=scores,
        confidence=confidence,
        names={
            "case_name": case_name,
            "positive_name": positive_name,
            "negative_name": negative_name,
            "title": title,
            "target": target or column_name(y_true),
        },
        interval=interval,
        chosen_here=chosen_here,
        prevalence=prevalence,
        details=details,
        doubt=doubt,
        zone=zone,
    )
    compared, lead = compare(None if comparison is None else list(comparison), evidence)
    labels = f"{evidence.boundary.labels[1]!r}, {evidence.boundary.labels[0]!r}"
    return as_plain(
        {
            **_facts_of(evidence, compared, lead),
            "model": model,
            "importance_of": Aim(evidence).title,
            "columns": sorted(columns, key=lambda column: column.used),
            "shell": shell or f"decisions = np.where(scores > {{threshold}}, {labels})",
            "top": top,
        }
    )


def _facts_of(evidence: Evidence, compared: Facts, lead: Lead | None) -> Facts:
    """Return what follows from evidence, counted, judged and in sentences."""
    verdict = reach_verdict(evidence)
    diagnosis = diagnose(evidence, lead.best if lead and lead.is_better_method else None)
    goal = goal_facts(evidence, diagnosis)
    return {
        "kind": "two classes",
        "version": __version__,
        "names": evidence.names,
        "labels": [str(label) for label in evidence.boundary.labels],
        "confidence": evidence.confidence,
        "judged_on": evidence.judged_on,
        "counted_on": WHERE[evidence.judged_on],
        "n": evidence.sample.n_samples,
        "chosen_on": evidence.boundary.n_samples,
        "clusters": evidence.certificate.n_clusters,
        "boundary": _boundary_facts(evidence.boundary),
        "old": {"threshold": evidence.own_threshold},
        "interval": evidence.interval,
        "certificate": _certificate_facts(evidence),
        "prevalence": evidence.prevalence,
        "goal": goal,
        "verdict": verdict_facts(verdict, evidence),
        "diagnosis": diagnosis_facts(diagnosis, evidence),
        "zone": None if evidence.zone is None else zone_facts(evidence.zone, evidence),
        "judgement": {
            **vars(verdict),
            **vars(diagnosis),
            "asks_for_rows": diagnosis.asks_for_rows,
            "lead": lead,
        },
        "comparison": compared
        | {"lead": lead_text(lead, evidence), "better": diagnosis.better_method},
        "words": explain_metrics(("g_mean", *compared["metrics"]), evidence.names),
        **panels(evidence),
    }


def _boundary_facts(boundary: Boundary) -> Facts:
    return {
        "threshold": boundary.threshold,
        "message": boundary.message,
        "claim": claim_text(boundary),
        "table": [{"title": title, "values": pair} for title, pair in class_rows(boundary)],
    }


def _certificate_facts(evidence: Evidence) -> Facts:
    """Return the certificate of single rows, with what follows from its counts."""
    certificate = evidence.by_row
    together = _together(certificate)
    hits = evidence.prevalence * (1 - together[1])
    alarmed = (1 - evidence.prevalence) * together[0]
    return {
        **{key: getattr(certificate, key) for key in _CERTIFICATE},
        "precision": hits / (hits + alarmed) if hits > 0 else 0.0,
        "together": together,
        "reason": sentence(certificate.reason),
    }


def _together(certificate: Certificate) -> list[float]:
    """Return bounds of false alarms, misses and hits that hold together, as its rates have them."""
    flagged, missed = certificate.wrong
    negative, positive = certificate.n_samples
    counts = ((flagged, negative), (missed, positive), (positive - missed, positive))
    bound = uniform_bound if certificate.method == "uniform" else clopper_pearson
    delta = (1 - certificate.confidence) / len(counts)
    return [float(bound(k, n, delta)) for k, n in counts]


def as_plain(facts: Mapping[str, object]) -> Facts:
    """Return facts whose records are mappings and whose numbers are finite or None."""
    return {name: _plain(value) for name, value in facts.items()}


def _plain(value: object) -> object:
    """Return a value that JSON can hold; what is not finite becomes None."""
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value) if np.isfinite(float(value)) else None
    return value if value is None else str(value)


def _render(facts: Facts) -> str:
    if facts["kind"] == "classes":
        return str(_template("classes.html.jinja").render(**facts, style=_read("page.css")))
    script = "".join(_read(name) for name in _SCRIPT)
    axis = ScoreAxis(*(facts["axis"][key] for key in ("kind", "low", "high")))
    page = _template("page.html.jinja").render(
        **facts,
        style=_read("page.css"),
        script=script,
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=_for_script(facts),
        picture=_draw_lanes(facts["projection"]),
        plot=_draw_errors(facts["stops"], facts["n"]),
        place=lambda score: f"{100 * float(axis.place(score)):.3f}%",
    )
    return str(page)


@cache
def _template(name: str) -> jinja2.Template:
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtraError("jinja2", "report") from error

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, loader=jinja2.FunctionLoader(_read)
    )

    def cell(value: object, form: str) -> str:
        if isinstance(value, float):
            return number(value, ",.4g" if 100 <= abs(value) < 1e6 else form)
        return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)

    environment.filters |= {
        "percent": percent,
        "at_least": at_least,
        "at_most": at_most,
        "number": lambda value: cell(value, ".3f"),
        "short": lambda value: cell(value, ".4g"),
    }
    return environment.get_template(name)


def _read(name: str) -> str:
    return resources.files("boundshift.report").joinpath("markup", name).read_text(encoding="utf-8")


def _for_script(facts: Facts) -> str:
    """Return what the slider needs, as JSON that is safe inside a script element."""
    keys = ("stops", "names", "certificate", "confidence", "shell", "top", "n", "prevalence")
    shown = {key: facts[key] for key in keys}
    shown["floors"] = [] if facts["goal"] is None else facts["goal"]["floors"]
    return json.dumps(shown, allow_nan=False, ensure_ascii=False).translate(_UNSAFE)


# The box of a picture is stretched unevenly, so text stands outside the SVG.
def _draw_lanes(classes: Sequence[Facts]) -> Facts:
    """Return the lanes of both classes, the positive one first."""
    lanes = []
    for shown in reversed(classes):
        unit = (_LANE - 2) / max(*shown["counts"], 1)
        x = np.repeat(np.linspace(0, _WIDTH, len(shown["counts"]) + 1), 2)
        outline, filled = (
            _path(x, _LANE - unit * np.repeat([0, *shown[key], 0], 2)[1:-1])
            for key in ("counts", "solid")
        )
        lanes.append({"outline": outline, "filled": f"{filled}Z"})
    return {"height": _LANE, "lanes": lanes}


def _draw_errors(stops: Facts, n: Sequence[int]) -> Facts:
    """Return the error curve of each class with the area up to its bound."""
    x = _WIDTH * np.array(stops["at"])
    curves = []
    for i in (0, 1):
        line = _path(x, _PLOT * (1 - np.array(stops["wrong"][i]) / n[i]))
        back = _path(x[::-1], _PLOT * (1 - np.array(stops["bounds"][i][::-1])))
        curves.append({"line": line, "band": f"{line}L{back[1:]}Z"})
    return {"height": _PLOT, "curves": curves, "grid": [_PLOT * i / 4 for i in (1, 2, 3)]}


def _path(x: FloatArray, y: FloatArray) -> str:
    """Return a path through points, leaving out those on a level stretch."""
    x = np.round(x, 1)
    y = np.round(y, 1)
    level = (y[:-2] == y[1:-1]) & (y[1:-1] == y[2:])
    kept = np.concatenate([[True], ~level, [True]])
    return "M" + "L".join(f"{a} {b}" for a, b in zip(x[kept], y[kept], strict=True))


class Report:
    """Facts of a report, and the page that they make.

    Parameters
    ----------
    facts : mapping
        From :func:`~boundshift.report.collect_facts`, or read back from JSON.

    Examples
    --------
    >>> from boundshift.report import Report, collect_facts
    >>> facts = collect_facts([0, 0, 0, 1, 1], [0, 1, 2, 4, 5], title="<b>")
    >>> "<title>&lt;b&gt;</title>" in Report(facts).html
    True
    """

    def __init__(self, facts: Mapping[str, object]) -> None:
        self.facts: Facts = dict(facts)

    @cached_property
    def html(self) -> str:
        """The page: a whole HTML document that needs no network.

        It takes Jinja2; where that is not installed, MissingExtraError names the extra.
        """
        return _render(self.facts)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the page, whole or not at all.

        Parameters
        ----------
        path : str or Path
            File to write.
        overwrite : bool, default=False
            Whether an existing file may be replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InvalidInputError
            If the file exists and may not be replaced.
        """
        path = Path(path)
        if path.is_dir() or (path.exists() and not overwrite and not is_special(path)):
            raise InvalidInputError(
                f"must be a new file, got {path}, which exists. Use another name, or "
                "overwrite=True to replace a file.",
                argument="path",
            )
        return write_whole(path, self.html, new=not overwrite)

    def __repr__(self) -> str:
        statements = (self.facts["goal"], self.facts["verdict"])
        return " ".join(each["sentence"] for each in statements if each is not None)

    def _repr_html_(self) -> str:
        """Return the page in a frame, which separates its style and script from the notebook's."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.facts["names"]["title"])}" '
            f'style="width:100%;height:900px;border:0"></iframe>'
        )


def report_classifier(
    classifier: BoundShiftClassifier,
    X: Rows,
    y: ArrayLike,
    *,
    names: Naming,
    confidence: float = 0.95,
    prevalence: float | None = None,
    by: str | Sequence[str] | None = None,
    row_cost: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    nominal: str = "",
) -> Report:
    """Report on a fitted :class:`~boundshift.BoundShiftClassifier`; see its method ``report``.

    `nominal` says why rows certify nothing: they were used in fit.
    """
    doubt = Doubt(nominal, "Report on other rows.") if nominal else None
    model = _model_name(classifier.estimator_)
    if len(classifier.classes_) > 2:
        others = {"prevalence": prevalence, "by": by, "row_cost": row_cost, "cluster": cluster}
        facts = class_facts(
            classifier, X, y, names=names, confidence=confidence, doubt=doubt, others=others
        )
        return Report(as_plain({"model": model, **facts}))
    boundary = classifier.boundary_
    if (row_cost is not None) != boundary.by_row:
        raise InvalidInputError(
            "must be given to report exactly if it was given to fit, got it in one of "
            "them only. Use fit(X, y, row_cost=amount) and report(X_test, y_test, row_cost=…).",
            argument="row_cost",
        )
    facts = collect_facts(
        y,
        classifier.positive_scores(X),
        boundary=boundary,
        old_threshold=classifier.own_threshold_,
        chosen_here=False,
        confidence=confidence,
        model=model,
        prevalence=prevalence,
        details=RowDetails(
            probability=own_probability(classifier, X),
            groups=_groups(X, by),
            row_cost=row_cost,
            cluster=cluster,
        ),
        shell="shifted.positive_scores(X_new) > {threshold}",
        doubt=doubt,
        **names,
    )
    return Report({**facts, "deployment": getattr(classifier, "deployment_", "")})


def _model_name(estimator: object) -> str:
    """Return the name of a model's class; of a mean of models that of the first one."""
    if isinstance(estimator, MeanOfModels):
        estimator = estimator.estimators[0]
    return type(unwrap(estimator).last).__name__


def _groups(X: Rows, by: str | Sequence[str] | None) -> dict[str, ArrayLike]:
    """Return the columns that divide rows into groups: those named, else words with few values."""
    columns = {str(name): X[name] for name in getattr(X, "columns", ())}
    if by is None:
        return {name: values for name, values in columns.items() if _has_words(values)}
    wanted = [by] if isinstance(by, str) else [str(name) for name in by]
    unknown = [name for name in wanted if name not in columns]
    if unknown:
        raise InvalidInputError(
            f"must name columns of X, got {unknown[0]!r}. The columns are "
            f"{', '.join(columns) or 'none: X is no dataframe'}.",
            argument="by",
        )
    return {name: check_levels(name, columns[name]) for name in wanted}


def _has_words(column: ArrayLike) -> bool:
    """Return whether a column has values other than numbers; an array of numbers is not read."""
    values = np.asarray(column)
    if values.dtype.kind in "biufc":
        return False
    return not all(isinstance(value, int | float | np.number) for value in values.tolist())
