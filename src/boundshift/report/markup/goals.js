// The reader's goals: fields that move the line to the best place, with the bound that still holds.
(function () {
  const { data, at, write, percent, atMost } = report;
  const stops = data.threshold.map((_, stop) => stop);
  let goal = null;

  function numberIn(id) {
    const field = at(id);
    const value = field.value === "" || !field.validity.valid ? NaN : Number(field.value);
    return value;
  }

  const sure = `with ${Number((100 * data.confidence).toPrecision(6))}% confidence, whichever threshold you choose`;
  // A bound is worth telling only for the model that is deployed.
  const claim = (text) => data.status === "certified" ? `; in the long run ${text} ${sure}.` : ". Nothing is certified here.";
  const amount = (value) => Number(value.toPrecision(4)).toLocaleString("en");
  const amountUp = (value) => {
    const unit = value > 0 ? Math.pow(10, Math.floor(Math.log10(value)) - 3) : 1;
    return amount(Math.ceil(value / unit - 1e-9) * unit);
  };

  // Of equally good stops the middle one, farthest from where it gets worse.
  function bestOf(value) {
    const values = stops.map(value);
    const least = Math.min(...values);
    const first = values.indexOf(least);
    let last = first;
    while (last < report.last && values[last + 1] === least) { last += 1; }
    return Math.floor((first + last) / 2);
  }

  function goToLeastCost() {
    const miss = numberIn("miss-cost");
    const alarm = numberIn("alarm-cost");
    if (!(miss > 0 && alarm > 0)) { return "Say what both errors cost: numbers above 0."; }
    const p = report.prevalence;
    const stop = bestOf((i) => {
      const rates = report.ratesAt(i, p);
      return p * rates.missed * miss + rates.falseAlarms * alarm;
    });
    const rates = report.ratesAt(stop, p);
    const cost = 1000 * (p * rates.missed * miss + rates.falseAlarms * alarm);
    const most = 1000 * report.claimsAt(stop, p, true).cost(miss, alarm);
    report.go(stop);
    return `Least cost on these rows: ${amount(cost)} per 1,000 decisions${claim(`at most ${amountUp(most)}`)}`;
  }

  function goToCapacity() {
    const people = numberIn("capacity");
    const rows = numberIn("out-of");
    if (!(people >= 0 && rows >= 1)) { return "Say how many you can call, and out of how many: whole numbers."; }
    const p = report.prevalence;
    // Thresholds rise, so that the first one that flags few enough finds the most.
    const fits = stops.find((i) => report.ratesAt(i, p).flagged <= people / rows);
    if (fits === undefined) { return "No threshold on this axis flags so few."; }
    const rates = report.ratesAt(fits, p);
    const claims = report.claimsAt(fits, p, true);
    const called = Math.round(rows * rates.flagged);
    report.go(fits);
    const right = rates.precision === null ? "" : `, ${percent(rates.precision)} of them rightly`;
    return `This calls about ${called.toLocaleString("en")} of ${rows.toLocaleString("en")} ${data.cases}${right}, and finds ` +
      `${percent(1 - rates.missed)} of ${data.positives}` +
      `${claim(`at most ${atMost(claims.flagged)} are called`)}` +
      (data.top ? ` For the best ${people} of a file: ${data.top.replace("{top}", String(people))}` : "");
  }

  function pursue() {
    write("taken", "");
    if (goal) { write("goal-note", goal()); }
  }

  function usePrevalence() {
    const share = numberIn("prevalence") / 100;
    if (!(share > 0 && share < 1)) {
      write("goal-note", "The frequency must be between 0 and 100.");
      return;
    }
    report.prevalence = share;
    write("goal-note", "");
    report.go(report.stop);
    pursue();
  }

  const say = (ids, pursued) => ids.forEach((id) => at(id).addEventListener("input", () => {
    goal = pursued;
    pursue();
  }));
  at("prevalence").addEventListener("input", usePrevalence);
  say(["miss-cost", "alarm-cost"], goToLeastCost);
  say(["capacity", "out-of"], goToCapacity);
  at("slider").addEventListener("input", () => { goal = null; });
  at("fields").addEventListener("submit", (event) => event.preventDefault());
})();
