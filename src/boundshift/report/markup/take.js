// What the reader takes away: the threshold, the line that uses it, the table of all thresholds.
(function () {
  const { data, at, write } = report;

  // Where the clipboard is closed, as in some frames, a selection is copied the old way.
  function copySelected(text) {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copySelected(text);
    }
  }

  at("copy").addEventListener("click", async () => {
    const text = String(data.threshold[report.stop]);
    const done = await copy(text);
    write("taken", done ? `Copied ${text}.` : `The browser does not let this page copy. The threshold is ${text}.`);
  });

  function table() {
    const head = ["threshold", "hits", "misses", "false_alarms", "true_negatives", "misses_at_most",
      "false_alarms_at_most", "prevalence", "precision", "alarms_per_1000"];
    const rows = data.threshold.map((threshold, stop) => {
      const [alarms, misses] = [data.wrong[0][stop], data.wrong[1][stop]];
      const rates = report.ratesAt(stop, report.prevalence);
      return [threshold, data.n[1] - misses, misses, alarms, data.n[0] - alarms, data.bounds[1][stop],
        data.bounds[0][stop], report.prevalence, rates.precision === null ? "" : rates.precision,
        1000 * rates.flagged];
    });
    return [head, ...rows].map((row) => row.join(",")).join("\n") + "\n";
  }

  at("download").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([table()], { type: "text/csv" }));
    link.download = "thresholds.csv";
    link.click();
    URL.revokeObjectURL(link.href);
    write("taken", `${report.last + 1} thresholds, in thresholds.csv.`);
  });
  at("line").addEventListener("focus", (event) => event.target.select());

  // On paper nothing can be opened.
  const details = document.querySelectorAll("details");
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = Array.from(details).filter((element) => !element.open);
    closed.forEach((element) => { element.open = true; });
  });
  window.addEventListener("afterprint", () => {
    closed.forEach((element) => { element.open = false; });
  });
})();
