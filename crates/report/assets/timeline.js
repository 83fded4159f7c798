// From epoch to epoch.
const Over = {
  // A step per point; nothing where nothing was recorded.
  series(subject, index, value, rest) {
    const { points } = subject.pictures.timeline;
    const [x, y] = [[], []];
    points.forEach((point, at) => {
      x.push(point.start_s);
      y.push(value(point));
      const next = points[at + 1]?.start_s ?? Infinity;
      // Between two epochs the recorder needs a moment: no gap to be shown.
      if (next - point.end_s > 0.2 * (point.end_s - point.start_s)) {
        x.push(point.end_s);
        y.push(next === Infinity ? y.at(-1) : null);
      }
    });
    return { name: subject.name, colour: index, x, y, step: true, ...rest };
  },

  spec(subjects, y, make, words) {
    const series = subjects.flatMap((subject, index) => make(subject, index))
      .filter((one) => one.x.length && one.y.some((value) => value != null));
    if (!series.length) return { words };
    return { x: { name: "time", format: Format.seconds, incrs: Format.SECONDS, min: 0 }, y: { min: 0, ...y }, series, height: 170, sync: "time" };
  },

  memory(subjects) {
    return Over.spec(subjects,
      { name: "memory", format: Format.bytes, size: 76, splits: Curves.amounts, pad: 0.05 },
      (subject, index) => [Over.series(subject, index, (point) => point.resident_bytes)],
      "No epoch was recorded.");
  },

  accesses(subjects) {
    const rate = (part) => (point) => (point.seconds > 0 ? point[part] / point.seconds : null);
    return Over.spec(subjects, { name: "accesses", format: Format.count, pad: 0.05 }, (subject, index) => [
      Over.series(subject, index, rate("accesses"), subjects.length > 1 ? {} : { name: "all" }),
      ...(subjects.length > 1 ? [] : [
        Over.series(subject, 2, rate("traffic"), { name: "past the CPU caches", width: 1.5 }),
        Over.series(subject, 1, rate("saturated"), { name: "of those too hot to measure", width: 1.5, dash: true }),
      ]),
    ], "No epoch was recorded.");
  },

  placed(subjects, y, value, words) {
    return Over.spec(subjects, y, (subject, index) => (subject.pictures.timeline.placed
      ? [Over.series(subject, index, value)] : []), words);
  },

  hits(subjects) {
    return Over.placed(subjects, { name: "served", format: Format.percent, max: 1 },
      (point) => (point.judged > 0 ? point.fast / point.judged : null),
      "There is no recommendation to follow from epoch to epoch.");
  },

  moves(subjects) {
    return Over.placed(subjects,
      { name: "moved", format: Format.bytesPerSecond, size: 84, splits: Curves.amounts, pad: 0.05 },
      (point) => (point.seconds > 0 ? (point.promoted_bytes + point.demoted_bytes) / point.seconds : null),
      "There is no recommendation to follow from epoch to epoch.");
  },

  // When an epoch ended, as finely as the timeline knows.
  end(subject, epoch) {
    const { points, epochs_per_point: each } = subject.pictures.timeline;
    return points[Math.min(Math.floor(epoch / each), points.length - 1)]?.end_s ?? 0;
  },

  // What a policy followed from epoch to epoch: a line that changes its level with every choice.
  choice(subject, decisions) {
    const names = [...new Set(decisions.choices.map((one) => one.choice))].sort();
    if (!names.length) return { words: "It chose nothing." };
    const last = subject.pictures.timeline.points.at(-1)?.end_s ?? 0;
    const x = decisions.choices.map((one) => Over.end(subject, one.epoch));
    const y = decisions.choices.map((one) => names.indexOf(one.choice));
    return {
      x: { name: "time", format: Format.seconds, incrs: Format.SECONDS, min: 0 },
      y: {
        name: "choice", min: -0.5, max: names.length - 0.5,
        format: (value) => names[value] ?? "", splits: () => names.map((name, at) => at),
      },
      series: [{ name: "choice", colour: 0, step: true, width: 4, x: [...x, Math.max(last, x.at(-1))], y: [...y, y.at(-1)] }],
      height: 60 + 30 * names.length, sync: "time",
    };
  },

  // The figures that it chose by.
  told(subject, decisions) {
    const x = decisions.epochs.map((epoch) => Over.end(subject, epoch));
    const figures = decisions.figures.filter((figure) => figure.values.length);
    if (!figures.length) return { words: "It told no figures." };
    const shares = figures.every((figure) => figure.values.every((value) => value >= 0 && value <= 1));
    return {
      x: { name: "time", format: Format.seconds, incrs: Format.SECONDS, min: 0 },
      y: { name: "figure", min: 0, format: shares ? Format.percent : Format.count, ...(shares ? { max: 1 } : {}) },
      series: figures.map((figure, colour) => ({ name: figure.name, colour, x, y: figure.values, dash: figure.name.endsWith("mean"), width: 1.5 })),
      height: 170, sync: "time",
    };
  },
};
