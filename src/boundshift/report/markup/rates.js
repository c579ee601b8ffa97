"use strict";
// What is counted and claimed at a stop of the slider; the other files draw and choose by it.
const report = (function () {
  const facts = JSON.parse(document.getElementById("data").textContent);
  const { certificate, stops } = facts;
  const data = {
    ...facts, ...stops, ...facts.names,
    own: stops.marks.old,
    status: certificate.status,
    reason: certificate.reason,
    shifted: {
      stop: stops.marks.shifted,
      bounds: certificate.error_bounds,
      together: certificate.together,
      fixed: certificate.method === "clopper-pearson",
    },
  };

  // The shifted boundary, if it was fixed before, has tighter bounds than a chosen threshold.
  const isShifted = (stop) => stop === data.shifted.stop;

  function boundsAt(stop) {
    return isShifted(stop) ? data.shifted.bounds : data.bounds.map((bounds) => bounds[stop]);
  }

  // Shares of all rows, if positives are as frequent as the reader says.
  function ratesAt(stop, prevalence) {
    const alarmed = data.wrong[0][stop] / data.n[0];
    const missed = data.wrong[1][stop] / data.n[1];
    const hits = prevalence * (1 - missed);
    const falseAlarms = (1 - prevalence) * alarmed;
    const flagged = hits + falseAlarms;
    return {
      alarmed, missed, hits, falseAlarms, flagged,
      precision: flagged > 0 ? hits / flagged : null,
      npv: flagged < 1 ? (1 - prevalence) * (1 - alarmed) / (1 - flagged) : null,
    };
  }

  // Bounds that hold together: those of a threshold fixed before, or for all thresholds at once.
  function claimsAt(stop, prevalence, always) {
    const fixed = isShifted(stop) && !always;
    const [alarmed, missed, hit] = fixed ? data.shifted.together : data.together.map((bounds) => bounds[stop]);
    const hits = prevalence * (1 - missed);
    const falseAlarms = (1 - prevalence) * alarmed;
    return {
      precision: hits > 0 ? hits / (hits + falseAlarms) : 0,
      flagged: prevalence * hit + falseAlarms,
      cost: (miss, alarm) => prevalence * missed * miss + falseAlarms * alarm,
    };
  }

  // Ties go to even, so that a share and its complement add up to 100%, as in Python.
  function toEven(value) {
    const exact = Number(value.toFixed(6));
    const rounded = Math.round(exact);
    return rounded - exact === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
  }

  const at = (id) => document.getElementById(id);
  return {
    data, at, isShifted, boundsAt, ratesAt, claimsAt,
    last: data.threshold.length - 1,
    stop: 0,
    toEven,
    prevalence: data.prevalence,
    write: (id, text) => { at(id).textContent = text; },
    percent: (share) => (toEven(1000 * share) / 10).toFixed(1) + "%",
    // A bound is rounded so that it still bounds.
    atMost: (share) => (Math.ceil(1000 * share - 1e-9) / 10).toFixed(1) + "%",
    atLeast: (share) => (Math.floor(1000 * share + 1e-9) / 10).toFixed(1) + "%",
    count: (number) => number.toLocaleString("en"),
    score: (number) => String(Number(number.toPrecision(4))).replace("-", "−"),
  };
})();
