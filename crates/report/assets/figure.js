// One picture in its <figure>: axes, size, zoom, legend, figures as a table. What it draws is
// given as a specification:
//   x, y     { format, log, min, max, splits, size }: how values read, and the scale
//   series   [{ name, colour, dash, width, x, y, low, high, step, points, bound }]
//   marks    [{ x, text }] upright lines; levels [{ y, text }] level ones
//   focus    whether only one series has its band and a bold line, and a click chooses which
const Figures = [];

class Figure {
  constructor(id, spec) {
    this.element = document.getElementById(id);
    if (!this.element) return;
    this.plot = this.element.querySelector(".plot");
    this.spec = spec;
    if (!spec || spec.words) {
      this.say(spec?.words ?? "There is nothing to draw.");
      return;
    }
    this.focus = Math.max(spec.series.findIndex((series) => series.focus), 0);
    this.xs = [...new Set(spec.series.flatMap((series) => series.x))].sort((a, b) => a - b);
    const [min, max] = Figure.range(spec.x, this.xs[0], this.xs.at(-1));
    this.whole = { min, max };
    this.draw();
    this.legend();
    this.tools();
    Table.attach(this);
    Figures.push(this);
  }

  say(words) {
    const said = document.createElement("p");
    said.className = "words";
    said.textContent = words;
    this.plot.replaceChildren(said);
    this.plot.removeAttribute("role");
    this.element.querySelector("details.data")?.remove();
    this.element.dataset.drawn = "words";
  }

  // A series at all places of the picture: between two of its own by a line, or the one before;
  // null outside of them.
  static at(series, values, xs) {
    let i = 0;
    return xs.map((x) => {
      while (i + 1 < series.x.length && series.x[i + 1] <= x) i += 1;
      if (x < series.x[0] || x > series.x[series.x.length - 1]) return null;
      const [here, next] = [values[i], values[i + 1]];
      if (series.step || series.x[i] === x || here == null || next == null) return here ?? null;
      const part = (x - series.x[i]) / (series.x[i + 1] - series.x[i]);
      return here + (next - here) * part;
    });
  }

  draw() {
    const spec = this.spec;
    const data = [this.xs];
    const series = [{}];
    const bands = [];
    const lines = [];
    spec.series.forEach((one, index) => {
      const focused = !spec.focus || index === this.focus;
      const colour = one.bound ? Theme.get("soft") : Theme.series(one.colour);
      if (focused && one.low) {
        const at = data.length;
        for (const values of [one.high ?? one.y, one.low]) {
          data.push(Figure.at(one, values, this.xs));
          series.push({ stroke: "transparent", width: 0, points: { show: false } });
        }
        bands.push({ series: [at, at + 1], fill: Theme.fade(colour, 0.16) });
        series[at + 1].stroke = Theme.fade(colour, 0.45);
        series[at + 1].width = 1;
      }
      lines.push(data.length);
      data.push(Figure.at(one, one.y, this.xs));
      series.push({
        stroke: one.line === false ? "transparent" : focused ? colour : Theme.fade(colour, 0.75),
        width: one.width ?? (spec.focus && focused ? 2.5 : spec.focus ? 1.25 : 2),
        dash: one.bound || one.dash ? [5, 4] : undefined,
        paths: one.step ? uPlot.paths.stepped({ align: 1 }) : undefined,
        points: one.points
          ? { show: true, size: 6, width: 1.5, stroke: colour, fill: Theme.get("paper") }
          : { show: this.xs.length < 3, size: 6, stroke: colour, fill: colour },
        spanGaps: false,
      });
    });
    this.lines = lines;
    const zoomed = this.chart
      ? { min: this.chart.scales.x.min, max: this.chart.scales.x.max } : null;
    this.chart?.destroy();
    const range = (axis) => (chart, low, high) => Figure.range(axis, low, high);
    this.chart = new uPlot({
      ...this.size(), padding: [8, 26, 0, 0],
      series, bands,
      legend: { show: false },
      scales: {
        x: { time: false, distr: spec.x.log ? 3 : 1, range: range(spec.x) },
        y: { distr: spec.y.log ? 3 : 1, range: range(spec.y) },
      },
      axes: [this.axis(spec.x, 30), this.axis(spec.y, spec.y.size ?? 62)],
      cursor: { drag: { x: true, y: false }, points: { show: false }, sync: spec.sync ? { key: spec.sync } : undefined },
      hooks: {
        draw: [(chart) => this.marks(chart)],
        setCursor: [(chart) => this.read(chart.cursor.idx)],
      },
    }, data, this.plot);
    if (zoomed && this.zoomed()) this.chart.setScale("x", zoomed);
    this.element.dataset.drawn = "chart";
  }

  zoomed() {
    const { min, max } = this.chart.scales.x;
    return this.whole && (min > this.whole.min || max < this.whole.max);
  }

  // Room around what there is; a single value gets some on both sides.
  static range(axis, low, high) {
    if (low == null || high == null) [low, high] = axis.log ? [1, 10] : [0, 1];
    low = axis.min != null ? Math.min(axis.min, low) : low;
    high = axis.max != null ? Math.max(axis.max, high) : high;
    if (axis.log) {
      low = Math.max(low, 1e-9);
      high = Math.max(high, low);
      return low === high ? [low / 2, high * 2] : [low, high];
    }
    if (low === high) return low === 0 ? [0, 1] : [Math.min(0, low), high * 1.1];
    return [low, axis.pad ? high + (high - low) * axis.pad : high];
  }

  axis(scale, size) {
    return {
      stroke: Theme.get("soft"),
      font: "12px system-ui, sans-serif",
      grid: { stroke: Theme.get("faint"), width: 0.5 },
      ticks: { stroke: Theme.get("faint"), width: 0.5, size: 4 },
      size, gap: 4, space: scale.space ?? (size > 40 ? 28 : 76),
      splits: scale.splits, incrs: scale.incrs,
      filter: scale.filter ?? ((chart, splits) => splits),
      values: (chart, splits) => splits.map((value) => (value == null ? "" : scale.format(value))),
    };
  }

  size() {
    return { width: Math.max(Math.floor(this.plot.clientWidth), 200), height: this.spec.height ?? 220 };
  }

  // Upright and level lines with their words.
  marks(chart) {
    const { ctx } = chart;
    const { left, top, width, height } = chart.bbox;
    const dpr = devicePixelRatio || 1;
    ctx.save();
    ctx.font = `${12 * dpr}px system-ui, sans-serif`;
    ctx.lineWidth = dpr;
    for (const level of this.spec.levels ?? []) {
      const y = Math.round(chart.valToPos(level.y, "y", true));
      if (y < top || y > top + height) continue;
      ctx.strokeStyle = ctx.fillStyle = Theme.get("ink");
      ctx.setLineDash([2 * dpr, 3 * dpr]);
      ctx.beginPath(); ctx.moveTo(left, y); ctx.lineTo(left + width, y); ctx.stroke();
      this.word(ctx, level.text, left + 4 * dpr, y + 3 * dpr, "left");
    }
    let row = 0;
    for (const mark of this.spec.marks ?? []) {
      const x = Math.round(chart.valToPos(mark.x, "x", true));
      if (x < left || x > left + width) continue;
      ctx.setLineDash([]);
      ctx.strokeStyle = ctx.fillStyle = mark.colour == null ? Theme.get("ink") : Theme.series(mark.colour);
      ctx.beginPath(); ctx.moveTo(x, top); ctx.lineTo(x, top + height); ctx.stroke();
      const right = x > left + width * 0.6;
      this.word(ctx, mark.text, x + (right ? -6 : 6) * dpr, top + (4 + 17 * row) * dpr, right ? "right" : "left");
      row += 1;
    }
    ctx.restore();
  }

  // A word that can be read over lines.
  word(ctx, text, x, y, align) {
    const dpr = devicePixelRatio || 1;
    const { width } = ctx.measureText(text);
    const colour = ctx.fillStyle;
    ctx.fillStyle = Theme.fade(Theme.get("paper"), 0.8);
    ctx.fillRect((align === "right" ? x - width : x) - 2 * dpr, y - dpr, width + 4 * dpr, 15 * dpr);
    ctx.fillStyle = colour;
    [ctx.textAlign, ctx.textBaseline] = [align, "top"];
    ctx.fillText(text, x, y);
  }

  // Names of the series, and their values under the pointer.
  legend() {
    const box = this.element.querySelector(".legend");
    if (!box || (this.spec.series.length < 2 && !this.spec.focus)) return;
    box.hidden = false;
    this.outputs = this.spec.series.map((one, index) => {
      const entry = document.createElement(this.spec.focus ? "button" : "span");
      const colour = one.bound ? "var(--soft)" : `var(--s${one.colour % 8})`;
      const line = one.points && one.line === false
        ? `<circle cx="9" cy="5" r="3" fill="none" stroke="${colour}" stroke-width="1.5"/>`
        : `<path d="M0 5H18" stroke="${colour}" stroke-width="2.5"${one.bound || one.dash ? ' stroke-dasharray="4 3"' : ""}/>`;
      entry.innerHTML = `<svg width="18" height="10" aria-hidden="true">${line}</svg>`;
      entry.append(document.createTextNode(one.name));
      const output = document.createElement("output");
      entry.append(output);
      if (this.spec.focus) {
        entry.type = "button";
        entry.setAttribute("aria-pressed", String(index === this.focus));
        entry.addEventListener("click", () => Figure.choose(one.name));
      }
      box.append(entry);
      return output;
    });
    const where = document.createElement("span");
    this.where = where.appendChild(document.createElement("output"));
    box.append(where);
  }

  // The same series stands out in all pictures that have it.
  static choose(name) {
    for (const figure of Figures.filter((figure) => figure.spec.focus)) {
      const index = figure.spec.series.findIndex((series) => series.name === name);
      if (index < 0) continue;
      figure.focus = index;
      figure.draw();
      figure.element.querySelectorAll(".legend button").forEach((button, i) =>
        button.setAttribute("aria-pressed", String(i === index)));
    }
  }

  read(at) {
    if (!this.outputs) return;
    this.spec.series.forEach((one, index) => {
      const value = at == null ? null : this.chart.data[this.lines[index]][at];
      this.outputs[index].textContent = value == null ? "" : this.value(one, at, value);
    });
    this.where.textContent = at == null ? "" : `at ${this.spec.x.format(this.xs[at])}`;
  }

  value(one, at, value) {
    if (!one.low) return this.spec.y.format(value);
    const [low] = Figure.at(one, one.low, [this.xs[at]]);
    return Format.band(low ?? value, value);
  }

  // Zooming without a mouse.
  tools() {
    const box = this.element.querySelector(".tools");
    if (!box || this.xs.length < 3) return;
    box.hidden = false;
    const button = (text, label, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.setAttribute("aria-label", label);
      made.title = label;
      made.addEventListener("click", act);
      box.append(made);
    };
    button("+", "Zoom in", () => this.zoom(0.5));
    button("−", "Zoom out", () => this.zoom(2));
    button("⤢", "Whole picture; dragging zooms, a double click goes back", () => this.reset());
  }

  zoom(factor) {
    const { min, max } = this.chart.scales.x;
    const log = this.spec.x.log;
    const [from, to] = log ? [Math.log(min), Math.log(max)] : [min, max];
    const [middle, half] = [(from + to) / 2, ((to - from) / 2) * factor];
    const back = (value) => (log ? Math.exp(value) : value);
    this.chart.setScale("x", {
      min: Math.max(back(middle - half), this.whole.min),
      max: Math.min(back(middle + half), this.whole.max),
    });
  }

  reset() {
    this.chart.setScale("x", { ...this.whole });
  }

  resize() {
    this.chart.setSize(this.size());
  }
}
