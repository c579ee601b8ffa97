// The reader's goals: fields that move the line to the best place, with the bound that still holds.
(function () {
  const { data, at, write, percent, atMost } = report;
  const stops = data.threshold.map((_, stop) => stop);
  let isPursued = false;

  // The numbers in fields: undefined if the first is empty, null if one is out of its range.
  function numbersIn(ids, least) {
    const fields = ids.map(at);
    if (fields.every((field) => field.value === "" && !field.validity.badInput)) { return undefined; }
    const values = fields.map((field) => (field.value === "" || !field.validity.valid ? NaN : Number(field.value)));
    return values.every((value, i) => value >= least[i]) ? values : null;
  }

  const sure = `with ${Number((100 * data.confidence).toPrecision(6))}% confidence, whichever threshold you choose`;
  // A bound is worth telling only for the model that is deployed.
  const claim = (text) => data.status === "certified" ? `; in the long run ${text} ${sure}.` : ". Nothing is certified here.";
  const amount = (value) => Number(value.toPrecision(4)).toLocaleString("en");
  const amountUp = (value) => {
    const unit = value > 0 ? Math.pow(10, Math.floor(Math.log10(value)) - 3) : 1;
    return amount(Math.ceil(value / unit - 1e-9) * unit);
  };

  // Of equally good stops from one on the middle one, farthest from where it gets worse.
  function bestFrom(first, value) {
    const values = stops.slice(first).map(value);
    const least = Math.min(...values);
    const start = values.indexOf(least);
    let end = start;
    while (end + 1 < values.length && values[end + 1] === least) { end += 1; }
    return first + Math.floor((start + end) / 2);
  }

  function costNote([miss, alarm], stop) {
    const p = report.prevalence;
    const rates = report.ratesAt(stop, p);
    const cost = 1000 * (p * rates.missed * miss + rates.falseAlarms * alarm);
    const most = 1000 * report.claimsAt(stop, p, true).cost(miss, alarm);
    return `Least cost on these rows: ${amount(cost)} per 1,000 decisions${claim(`at most ${amountUp(most)}`)}`;
  }

  function capacityNote([people, rows], stop) {
    const p = report.prevalence;
    const rates = report.ratesAt(stop, p);
    const claims = report.claimsAt(stop, p, true);
    const called = Math.round(rows * rates.flagged);
    const right = rates.precision === null ? "" : `, ${percent(rates.precision)} of them rightly`;
    return `This flags about ${called.toLocaleString("en")} of ${rows.toLocaleString("en")} ${data.cases}${right}, and finds ` +
      `${percent(1 - rates.missed)} of ${data.positives}` +
      `${claim(`at most ${atMost(claims.flagged)} are flagged`)}` +
      (data.top ? ` For the best ${people} of a file: ${data.top.replace("{top}", String(people))}` : "");
  }

  // The goal of the report, where the reader's own leads away from it.
  function floorNote(stop) {
    const rates = report.ratesAt(stop, report.prevalence);
    const reached = {
      recall: 1 - rates.missed, specificity: 1 - rates.alarmed, precision: rates.precision, npv: rates.npv,
    };
    const missed = data.floors.filter(({ name, asked }) =>
      name === "flagged" ? rates.flagged > asked + 1e-9 : reached[name] !== null && reached[name] < asked - 1e-9);
    return missed.map(({ name, asked }) => `The goal is missed here: ${name} is ` +
      `${percent(name === "flagged" ? rates.flagged : reached[name])} where ${Number((100 * asked).toPrecision(6))}% were asked for.`);
  }

  // Move the line to the least cost within the capacity, by those of them that are filled in.
  function pursue() {
    const costs = numbersIn(["miss-cost", "alarm-cost"], [Number.MIN_VALUE, Number.MIN_VALUE]);
    const isCapped = at("capacity").value !== "" || at("capacity").validity.badInput;
    const capacity = isCapped ? numbersIn(["capacity", "out-of"], [0, 1]) : undefined;
    write("taken", "");
    if (costs === null) { return "Fill in what both errors cost: numbers above 0."; }
    if (capacity === null) { return "Fill in how many you can act on, and out of how many: whole numbers."; }
    if (!costs && !capacity) { return ""; }
    const p = report.prevalence;
    // Thresholds rise, so that from the first one that flags few enough all do.
    const first = capacity ? stops.find((i) => report.ratesAt(i, p).flagged <= capacity[0] / capacity[1]) : 0;
    if (first === undefined) { return "No threshold on this axis flags so few."; }
    const stop = !costs ? first : bestFrom(first, (i) => {
      const rates = report.ratesAt(i, p);
      return p * rates.missed * costs[0] + rates.falseAlarms * costs[1];
    });
    report.go(stop);
    return [
      ...(costs ? [costNote(costs, stop)] : []),
      ...(capacity ? [capacityNote(capacity, stop)] : []),
      ...floorNote(stop),
    ].join(" ");
  }

  function usePrevalence() {
    const share = numbersIn(["prevalence"], [0]);
    if (!share || !(share[0] > 0 && share[0] < 100)) {
      write("goal-note", "The frequency must be between 0 and 100.");
      return;
    }
    report.prevalence = share[0] / 100;
    write("goal-note", isPursued ? pursue() : "");
    report.go(report.stop);
  }

  at("prevalence").addEventListener("input", usePrevalence);
  ["miss-cost", "alarm-cost", "capacity", "out-of"].forEach((id) => at(id).addEventListener("input", () => {
    isPursued = true;
    write("goal-note", pursue());
  }));
  at("slider").addEventListener("input", () => { isPursued = false; });
  at("fields").addEventListener("submit", (event) => event.preventDefault());
})();
