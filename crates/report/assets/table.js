// Tables that are wider than the window: they scroll sideways, and a line below says so, with how many
// columns are out of sight.
const Wide = {
  attach() {
    for (const box of document.querySelectorAll(".wide")) {
      const hint = document.createElement("p");
      hint.className = "hint";
      hint.hidden = true;
      box.after(hint);
      box.addEventListener("scroll", () => Wide.look(box), { passive: true });
      new ResizeObserver(() => Wide.look(box)).observe(box);
      Wide.look(box);
    }
  },

  look(box) {
    const hint = box.nextElementSibling;
    const edge = box.getBoundingClientRect().right;
    const heads = [...box.querySelectorAll("thead tr:first-child > *")];
    // What is out of sight of one may be the room to the next.
    const end = (head) => head.getBoundingClientRect().right - parseFloat(getComputedStyle(head).paddingRight);
    const beyond = heads.filter((head) => end(head) > edge + 1);
    // Whoever has no pointer scrolls with the keys.
    const wide = box.scrollWidth > box.clientWidth + 1;
    wide ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex");
    hint.hidden = beyond.length === 0;
    const columns = beyond.length === 1 ? "1 more column" : `${beyond.length} more columns`;
    hint.textContent = `→ ${columns} to the right: ${beyond.map((head) => head.textContent.trim()).join(", ")}`;
  },
};

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
