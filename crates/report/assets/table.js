// What a figure draws, in figures: a table that is made when its <details> is opened.
const Table = {
  attach(figure) {
    const details = figure.element.querySelector("details.data");
    details?.addEventListener("toggle", () => {
      if (details.open && !details.querySelector("table")) details.append(Table.make(figure));
    });
  },

  make(figure) {
    const { spec, xs, chart, lines } = figure;
    const cell = (row, tag, text) => {
      row.appendChild(document.createElement(tag)).textContent = text;
    };
    const table = document.createElement("table");
    table.className = "plain";
    const head = table.createTHead().insertRow();
    cell(head, "th", spec.x.name);
    spec.series.forEach((series) => cell(head, "th", series.name));
    const body = table.createTBody();
    xs.forEach((x, at) => {
      const row = body.insertRow();
      cell(row, "th", spec.x.format(x));
      spec.series.forEach((series, index) => {
        const value = chart.data[lines[index]][at];
        cell(row, "td", value == null ? "–" : figure.value(series, at, value));
      });
    });
    const box = document.createElement("div");
    box.append(table);
    return box;
  },
};
