// Heat over address and time: one rectangle per cell, colours on a logarithmic scale that all
// plans of the page share. Heights follow memory, but no area is thinner than its name.
const HEIGHT = 480;
const DECADES = [2, 4];
// The scale ends no lower, in accesses per second and MiB: a program that does next to nothing is
// not to look hot. As in the terminal.
const HOT = 100;

class Heat {
  // What all maps of the page have in common.
  static scale(subjects) {
    let [low, high] = [Infinity, 0];
    for (const subject of subjects) {
      for (const area of subject.pictures.heat.areas) {
        for (const row of area.rows) {
          for (const rate of row.rate_per_mib) {
            if (rate > 0) [low, high] = [Math.min(low, rate), Math.max(high, rate)];
          }
        }
      }
    }
    if (!(high > 0)) return null;
    high = Math.max(high, HOT);
    // Noise is not to look like structure, nor one cold cell to take all colours.
    const floor = high / 10 ** DECADES[1];
    return { low: Math.min(Math.max(low, floor), high / 10 ** DECADES[0]), high, floored: low < floor };
  }

  constructor(id, subject, scale) {
    this.element = document.getElementById(id);
    this.plot = this.element.querySelector(".plot");
    this.columns = subject.pictures.heat.columns;
    this.scale = scale;
    this.rows = Heat.rows(subject.pictures.heat.areas);
    if (!this.columns.length || !this.rows.length) {
      Figure.prototype.say.call(this, "No memory of the target was resident.");
      return;
    }
    this.areas = subject.pictures.heat.areas;
    this.whole = { x: [0, this.columns.at(-1).end_s], y: [0, 1] };
    this.draw();
    this.key();
    this.tip();
    this.spec = { x: {} };
    this.xs = [0, 1, 2];
    Figure.prototype.tools.call(this);
    Figures.push(this);
  }

  // All rows with their place, 0 at the top and 1 at the bottom.
  static rows(areas) {
    const all = areas.reduce((sum, area) => sum + area.bytes, 0);
    const least = Math.min(19 / HEIGHT, 0.5 / Math.max(areas.length, 1));
    const heights = areas.map((area) => (area.rows.length ? Math.max(all > 0 ? area.bytes / all : 0, least) : 0));
    const sum = heights.reduce((a, b) => a + b, 0);
    const rows = [];
    let top = 0;
    areas.forEach((area, index) => {
      const height = heights[index] / sum / Math.max(area.rows.length, 1);
      for (const row of area.rows) {
        rows.push({ ...row, area, index, top, bottom: (top += height) });
      }
    });
    return rows;
  }

  draw() {
    this.chart?.destroy();
    const narrow = this.plot.clientWidth < 560;
    const axis = Figure.prototype.axis;
    const [start, end] = this.whole.x;
    const range = (whole) => (chart, low, high) => (low == null || low === high ? whole : [low, high]);
    this.chart = new uPlot({
      width: Math.max(Math.floor(this.plot.clientWidth), 200), height: HEIGHT, padding: [8, 26, 0, 0],
      legend: { show: false },
      scales: { x: { time: false, range: range(this.whole.x) }, y: { dir: -1, range: range([0, 1]) } },
      series: [{}, { stroke: "transparent", paths: () => null, points: { show: false } }],
      axes: [
        { ...axis({ format: Format.seconds, incrs: Format.SECONDS }, 30), grid: { show: false } },
        {
          ...axis({ format: String }, narrow ? 84 : 150), grid: { show: false }, ticks: { show: false },
          splits: (chart, at, low, high) => this.middles(chart, low, high).map(([, middle]) => middle),
          values: (chart) => this.middles(chart, chart.scales.y.min, chart.scales.y.max)
            .map(([area]) => Heat.short(area.name, narrow ? 11 : 21)),
        },
      ],
      cursor: { drag: { x: true, y: true, uni: 24 }, points: { show: false } },
      hooks: { drawAxes: [(chart) => this.paint(chart)], setCursor: [(chart) => this.point(chart)] },
    }, [[start, end], [0, 1]], this.plot);
    this.element.dataset.drawn = "heat";
  }

  // The areas in view that have room for a name, and where it stands.
  middles(chart, low, high) {
    const room = 12 / (chart.bbox.height / (devicePixelRatio || 1)) * (high - low);
    return this.areas.flatMap((area, index) => {
      const own = this.rows.filter((row) => row.index === index);
      if (!own.length) return [];
      const [top, bottom] = [Math.max(own[0].top, low), Math.min(own.at(-1).bottom, high)];
      return bottom - top >= room ? [[area, (top + bottom) / 2]] : [];
    });
  }

  static short(name, most) {
    const inner = name.replace(/^\[anon:(.*)\]$/, "$1");
    const last = inner.length > most && inner.includes("/") ? inner.split("/").at(-1) : inner;
    return last.length > most ? `${last.slice(0, most / 3)}…${last.slice(last.length - Math.floor(most / 2))}` : last;
  }

  // Lines over what nobody knows: it is not to be taken for cold.
  static hatch(ctx) {
    const size = 6 * Math.round(devicePixelRatio || 1);
    const tile = document.createElement("canvas");
    [tile.width, tile.height] = [size, size];
    const lines = tile.getContext("2d");
    lines.strokeStyle = Theme.get("soft");
    lines.lineWidth = size / 6;
    lines.beginPath();
    for (const at of [-size / 2, size / 2]) {
      lines.moveTo(at, size);
      lines.lineTo(at + size, 0);
    }
    lines.stroke();
    return ctx.createPattern(tile, "repeat");
  }

  colour(rate) {
    if (!(rate > 0) || !this.scale) return this.never;
    return Theme.heat(Math.log(rate / this.scale.low) / Math.log(this.scale.high / this.scale.low));
  }

  paint(chart) {
    const { ctx, bbox } = chart;
    this.never = Theme.get("never");
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const edges = this.columns.map((column, at) => {
      // Between two epochs the recorder needs a moment: no gap to be shown.
      const next = this.columns[at + 1]?.start_s;
      const close = next - column.end_s < 0.2 * (column.end_s - column.start_s);
      return [column.start_s, close ? next : column.end_s]
        .map((second) => Math.round(chart.valToPos(second, "x", true)));
    });
    let before = null;
    const hatch = Heat.hatch(ctx);
    for (const row of this.rows) {
      const [top, bottom] = [row.top, row.bottom].map((at) => Math.round(chart.valToPos(at, "y", true)));
      if (bottom < bbox.top || top > bbox.top + bbox.height) continue;
      row.rate_per_mib.forEach((rate, column) => {
        const edge = edges[column];
        if (rate == null || !edge) return;
        ctx.fillStyle = row.unknown[column] ? this.never : this.colour(rate);
        ctx.fillRect(edge[0], top, Math.max(edge[1] - edge[0], 1), Math.max(bottom - top, 1));
        if (!row.unknown[column]) return;
        ctx.fillStyle = hatch;
        ctx.fillRect(edge[0], top, Math.max(edge[1] - edge[0], 1), Math.max(bottom - top, 1));
      });
      if (before != null && before !== row.index) {
        ctx.fillStyle = Theme.get("paper");
        ctx.fillRect(bbox.left, top, bbox.width, Math.max(1, devicePixelRatio || 1));
      }
      before = row.index;
    }
    ctx.restore();
    ctx.strokeStyle = Theme.get("faint");
    ctx.lineWidth = devicePixelRatio || 1;
    ctx.strokeRect(bbox.left, bbox.top, bbox.width, bbox.height);
  }

  // What the colours mean.
  key() {
    const box = this.element.querySelector(".scale");
    const text = (words) => box.appendChild(document.createElement("span")).append(words);
    box.replaceChildren();
    if (this.scale) {
      text(`accesses per second and MiB: ${Format.count(this.scale.low)}${this.scale.floored ? " or less" : ""}`);
      const strip = box.appendChild(document.createElement("canvas"));
      [strip.width, strip.height] = [192, 1];
      const ctx = strip.getContext("2d");
      for (let x = 0; x < 192; x += 1) {
        ctx.fillStyle = Theme.heat(x / 191);
        ctx.fillRect(x, 0, 1, 1);
      }
      strip.setAttribute("role", "img");
      strip.setAttribute("aria-label", "dark violet for the least, over green, to yellow for the most");
      text(Format.count(this.scale.high));
    }
    const never = box.appendChild(document.createElement("span"));
    if (this.rows.some((row) => row.unknown.includes(true))) {
      const unknown = box.appendChild(document.createElement("span"));
      const mark = document.createElement("i");
      mark.className = "unknown";
      unknown.append(mark, "unknown: accessed bits that cannot be cleared");
    }
    never.append(document.createElement("i"), this.scale ? "resident, not accessed; blank: not resident, or not recorded" : "resident, not accessed: no access was seen");
  }

  tip() {
    this.box = document.createElement("div");
    this.box.className = "tip";
    this.box.hidden = true;
    this.plot.style.position = "relative";
    this.plot.append(this.box);
  }

  // The cell under the pointer.
  point(chart) {
    if (!this.box) return;
    const { left, top } = chart.cursor;
    const [second, place] = [chart.posToVal(left, "x"), chart.posToVal(top, "y")];
    const column = this.columns.findIndex((one) => one.start_s <= second && second < one.end_s);
    const row = this.rows.find((one) => one.top <= place && place < one.bottom);
    this.box.hidden = left < 0 || !row;
    if (this.box.hidden) return;
    const rate = column < 0 ? undefined : row.rate_per_mib[column];
    const heat = rate === undefined ? "not recorded" : rate === null ? "not resident"
      : row.unknown[column] ? "unknown: its accessed bits cannot be cleared"
      : rate > 0 ? `${Format.count(rate)} accesses/s per MiB` : "resident, not accessed";
    const time = column < 0 ? Format.seconds(second)
      : `${Format.seconds(this.columns[column].start_s)} – ${Format.seconds(this.columns[column].end_s)}`;
    const where = row.end === null ? "several address spaces or files"
      : `${Format.address(row.first)} – ${Format.address(row.end)}`;
    const line = (tag, words) => {
      const made = document.createElement(tag);
      made.textContent = words;
      return made;
    };
    const br = () => document.createElement("br");
    this.box.replaceChildren(line("b", row.area.name), heat, br(), line("span", time), br(), line("span", `${where}, ${Format.bytes(row.bytes)}`));
    const over = this.plot.querySelector(".u-over");
    const x = over.offsetLeft + left;
    const flip = x + this.box.offsetWidth + 24 > this.plot.clientWidth;
    this.box.style.left = `${Math.max(0, flip ? x - this.box.offsetWidth - 12 : x + 12)}px`;
    this.box.style.top = `${Math.min(over.offsetTop + top + 12, HEIGHT - this.box.offsetHeight)}px`;
  }

  zoom(factor) {
    const { min, max } = this.chart.scales.x;
    const [middle, half] = [(min + max) / 2, ((max - min) / 2) * factor];
    const [start, end] = this.whole.x;
    this.chart.setScale("x", { min: Math.max(middle - half, start), max: Math.min(middle + half, end) });
  }

  reset() {
    this.chart.setScale("x", { min: this.whole.x[0], max: this.whole.x[1] });
    this.chart.setScale("y", { min: 0, max: 1 });
  }

  resize() {
    this.draw();
  }
}
