// The slider, the lines in the pictures, and every number that follows them.
(function () {
  const { data, at, write, percent, atMost, atLeast, count } = report;
  const slider = at("slider");
  const toOwn = at("to-own"); // not there if the model's own threshold is not known

  function paint(id, share, bound) {
    const wrong = Math.round(100 * share);
    const most = Math.ceil(100 * bound - 1e-9);
    Array.from(at(id).children).forEach((dot, i) => {
      dot.setAttribute("class", i < wrong ? "is" : i < most ? "may" : "");
    });
    return wrong;
  }

  function noteFor(stop) {
    if (data.status !== "certified") {
      return "Nothing beside the slider is certified. " + data.reason;
    }
    if (report.isShifted(stop) && data.shifted.fixed) {
      return "“At most” is for this threshold alone, which was fixed before these rows were looked at.";
    }
    return "“At most” holds wherever the slider stands, so that you may choose by looking.";
  }

  function showRates(stop) {
    const rates = report.ratesAt(stop, report.prevalence);
    const tenths = (share) => report.toEven(10000 * share);
    const [alarms, hits] = [tenths(rates.flagged), tenths(rates.hits)];
    write("precision", rates.precision === null ? "–" : percent(rates.precision));
    write("precision-bound", atLeast(report.claimsAt(stop, report.prevalence).precision));
    write("alarms", (alarms / 10).toFixed(1));
    write("hits", (hits / 10).toFixed(1));
    write("false-alarms", ((alarms - hits) / 10).toFixed(1));
    return rates;
  }

  function show(stop) {
    const bound = report.boundsAt(stop);
    const shifted = report.isShifted(stop);
    const wrong = [data.wrong[0][stop], data.wrong[1][stop]];
    const threshold = report.score(data.threshold[stop]);
    const rates = showRates(stop);
    report.stop = stop;
    at("try").style.setProperty("--cut", 100 * data.at[stop] + "%");
    write("threshold", threshold);
    write("where", shifted ? "the new threshold" : stop === data.own ? "the model's own threshold" : "your threshold");
    write("found", percent(1 - rates.missed));
    write("missed", percent(rates.missed));
    write("spared", percent(1 - rates.alarmed));
    write("flagged", percent(rates.alarmed));
    write("missed-bound", atMost(bound[1]));
    write("flagged-bound", atMost(bound[0]));
    write("tp", count(data.n[1] - wrong[1]));
    write("fn", count(wrong[1]));
    write("fp", count(wrong[0]));
    write("tn", count(data.n[0] - wrong[0]));
    at("dot-positive").style.top = 100 - 100 * rates.missed + "%";
    at("dot-negative").style.top = 100 - 100 * rates.alarmed + "%";
    const missed = paint("dots-positive", rates.missed, bound[1]);
    const flagged = paint("dots-negative", rates.alarmed, bound[0]);
    write("people-missed", missed);
    write("people-missed-bound", atMost(bound[1]));
    write("people-flagged", flagged);
    write("people-flagged-bound", atMost(bound[0]));
    write("bound-note", noteFor(stop));
    at("legend-yours").hidden = shifted;
    at("legend-shifted").classList.toggle("pale", !shifted);
    at("line").value = data.shell.replace("{threshold}", String(data.threshold[stop]));
    const right = rates.precision === null ? "none" : percent(rates.precision);
    const said = `Threshold ${threshold}: ${percent(rates.missed)} of ${data.positives} missed, ` +
      `${percent(rates.alarmed)} of ${data.negatives} flagged, ${right} of the alarms right.`;
    write("readout", said);
    slider.setAttribute("aria-valuetext", said);
    at("to-shifted").setAttribute("aria-pressed", String(shifted));
    if (toOwn) { toOwn.setAttribute("aria-pressed", String(stop === data.own)); }
  }

  report.go = function (stop) {
    slider.value = String(Math.min(Math.max(stop, 0), report.last));
    show(Number(slider.value));
  };

  // Whoever moves the line by hand has left the goal for which it was placed.
  function goByHand(stop) {
    write("goal-note", "");
    write("taken", "");
    report.go(stop);
  }

  function follow(chart) {
    const move = (event) => {
      const box = chart.getBoundingClientRect();
      goByHand(Math.round(report.last * (event.clientX - box.left) / box.width));
    };
    chart.addEventListener("pointerdown", (event) => {
      chart.setPointerCapture(event.pointerId);
      move(event);
    });
    chart.addEventListener("pointermove", (event) => {
      if (chart.hasPointerCapture(event.pointerId)) { move(event); }
    });
  }

  slider.addEventListener("input", () => goByHand(Number(slider.value)));
  at("to-shifted").addEventListener("click", () => goByHand(data.shifted.stop));
  if (toOwn) { toOwn.addEventListener("click", () => goByHand(data.own)); }
  document.querySelectorAll(".chart.drag").forEach(follow);
  report.go(data.shifted.stop);
})();
