"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const slider = at("slider");
  const last = data.threshold.length - 1;

  const percent = (share) => (100 * share).toFixed(1) + "%";
  // A bound is rounded up, so that it still bounds.
  const atMost = (share) => (Math.ceil(1000 * share - 1e-9) / 10).toFixed(1) + "%";
  const count = (number) => number.toLocaleString("en");
  const score = (number) => String(Number(number.toPrecision(4))).replace("-", "−");
  const write = (id, text) => { at(id).textContent = text; };

  // The two thresholds that were fixed before may have tighter bounds than a chosen one.
  function markAt(stop) {
    return ["shifted", "old"].find((name) => data.marks[name].stop === stop);
  }

  function boundsAt(stop) {
    const mark = markAt(stop);
    return mark ? data.marks[mark].bounds : [data.bounds[0][stop], data.bounds[1][stop]];
  }

  function paint(id, share, bound) {
    const wrong = Math.round(100 * share);
    const most = Math.ceil(100 * bound - 1e-9);
    Array.from(at(id).children).forEach((dot, i) => {
      dot.setAttribute("class", i < wrong ? "is" : i < most ? "may" : "");
    });
    return [wrong, most];
  }

  function noteFor(mark) {
    if (data.status === "cross-fitted") {
      return "“At most” is about the models of the folds, each of which left rows out; the deployed one is another.";
    }
    if (data.status !== "certified") {
      return "All of this is nominal: the model was trained on these rows, and they flatter it.";
    }
    if (mark && data.marks[mark].fixed) {
      return "“At most” is for this threshold alone, which was fixed before these rows were looked at.";
    }
    return "“At most” holds wherever the slider stands, so that you may choose by looking.";
  }

  function show(stop) {
    const wrong = [data.wrong[0][stop], data.wrong[1][stop]];
    const share = [wrong[0] / data.n[0], wrong[1] / data.n[1]];
    const bound = boundsAt(stop);
    const mark = markAt(stop);
    const threshold = score(data.threshold[stop]);
    at("try").style.setProperty("--cut", 100 * data.at[stop] + "%");
    write("threshold", threshold);
    write("where", { shifted: "the shifted boundary", old: "the model's own" }[mark] || "your choice");
    write("missed", percent(share[1]));
    write("flagged", percent(share[0]));
    write("missed-bound", atMost(bound[1]));
    write("flagged-bound", atMost(bound[0]));
    write("tp", count(data.n[1] - wrong[1]));
    write("fn", count(wrong[1]));
    write("fp", count(wrong[0]));
    write("tn", count(data.n[0] - wrong[0]));
    at("dot-positive").style.top = 100 - 100 * share[1] + "%";
    at("dot-negative").style.top = 100 - 100 * share[0] + "%";
    const missed = paint("dots-positive", share[1], bound[1]);
    const flagged = paint("dots-negative", share[0], bound[0]);
    write("people-missed", missed[0]);
    write("people-missed-bound", missed[1]);
    write("people-flagged", flagged[0]);
    write("people-flagged-bound", flagged[1]);
    write("bound-note", noteFor(mark));
    const said = `Threshold ${threshold}: ${percent(share[1])} of ${data.positives} missed, ` +
      `${percent(share[0])} of ${data.negatives} flagged.`;
    write("readout", said);
    slider.setAttribute("aria-valuetext", said);
    at("to-shifted").setAttribute("aria-pressed", String(mark === "shifted"));
    at("to-own").setAttribute("aria-pressed", String(stop === data.marks.old.stop));
  }

  function go(stop) {
    slider.value = String(Math.min(Math.max(stop, 0), last));
    show(Number(slider.value));
  }

  function follow(chart) {
    const move = (event) => {
      const box = chart.getBoundingClientRect();
      go(Math.round(last * (event.clientX - box.left) / box.width));
    };
    chart.addEventListener("pointerdown", (event) => {
      chart.setPointerCapture(event.pointerId);
      move(event);
    });
    chart.addEventListener("pointermove", (event) => {
      if (chart.hasPointerCapture(event.pointerId)) { move(event); }
    });
  }

  slider.addEventListener("input", () => show(Number(slider.value)));
  at("to-shifted").addEventListener("click", () => go(data.marks.shifted.stop));
  at("to-own").addEventListener("click", () => go(data.marks.old.stop));
  document.querySelectorAll(".chart").forEach(follow);
  go(data.marks.shifted.stop);
})();
