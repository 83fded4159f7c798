// Curves over fast memory, and rates by rank.
const Curves = {
  // Slowdowns below this have no place on a logarithmic scale.
  LEAST: 0.001,

  // One series per policy of one plan, or the shown policy of each of several.
  series(subjects, value) {
    const make = (policy, rest) => ({
      x: policy.points.map((point) => point.fast_bytes), ...value(policy.points), ...rest,
    });
    const drawn = subjects.map((subject, index) => ({ subject, index }))
      .filter(({ subject }) => subject.shown != null);
    if (subjects.length > 1) {
      return drawn.map(({ subject, index }) => {
        const policy = subject.plan.policies.find((one) => one.policy === subject.shown);
        return make(policy, { name: `${subject.name} (${policy.policy})`, colour: index });
      });
    }
    return drawn.flatMap(({ subject }) => {
      const name = subject.shown;
      // The first colour is the recommended policy's.
      const others = subject.plan.policies.map((policy) => policy.policy).filter((one) => one !== name);
      return subject.plan.policies.map((policy) => make(policy, {
        name: policy.policy, colour: others.indexOf(policy.policy) + 1,
        bound: policy.role === "bound", focus: policy.policy === name,
      }));
    });
  },

  marks(subjects) {
    return subjects.flatMap((subject, index) => {
      const answer = subject.plan.recommendation;
      return answer && subject.shown != null
        ? [{ x: answer.fast_bytes, text: Format.bytes(answer.fast_bytes), colour: subjects.length > 1 ? index : null }]
        : [];
    });
  },

  spec(subjects, value, y, more) {
    const series = Curves.series(subjects, value);
    if (!series.length) return { words: "There is no curve to draw; the note above says why." };
    return {
      x: { name: "fast memory", format: Format.bytes, min: 0, splits: Curves.binary },
      y, series, focus: subjects.length === 1, marks: Curves.marks(subjects), ...more,
    };
  },

  // Round sizes in the unit that suits, at most about eight.
  binary(chart, axis, low, high) {
    const room = Math.max(2, Math.floor(chart.bbox.width / (devicePixelRatio || 1) / 90));
    let step = 4096;
    while ((high - low) / step > room) step *= 2;
    const splits = [];
    for (let at = Math.ceil(low / step) * step; at <= high; at += step) splits.push(at);
    return splits;
  },

  slowdown(subjects) {
    const least = (value) => Math.max(value, Curves.LEAST);
    const targets = [...new Set(subjects.map((subject) => subject.plan.target_slowdown))];
    const splits = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
    return Curves.spec(subjects, (points) => ({
      y: points.map((point) => least(point.slowdown.high)),
      low: points.map((point) => least(point.slowdown.low)),
    }), {
      name: "slowdown", log: true, min: Curves.LEAST, max: 0.1, space: 18,
      format: (value) => (value <= Curves.LEAST ? "≤0.1 %" : Format.percent(value)),
      splits: (chart, axis, low, high) => splits.filter((at) => at >= low && at <= high),
    }, {
      height: 300,
      levels: targets.map((target) => ({ y: least(target), text: `within ${Format.exactly(target)}` })),
    });
  },

  hits(subjects) {
    return Curves.spec(subjects, (points) => ({ y: points.map((point) => point.hit_ratio) }),
      { name: "served", format: Format.percent, min: 0, max: 1 });
  },

  moves(subjects) {
    return Curves.spec(subjects, (points) => ({
      y: points.map((point) => point.promoted_bytes_per_s + point.demoted_bytes_per_s),
    }), { name: "moved", format: Format.bytesPerSecond, min: 0, pad: 0.05, size: 84, splits: Curves.amounts });
  },

  amounts(chart, axis, low, high) {
    if (!(high > 0)) return [0];
    let step = 1;
    while (high / step > 5) step *= 2;
    const splits = [];
    for (let at = 0; at <= high; at += step) splits.push(at);
    return splits;
  },

  // The decades in view.
  decades(chart, axis, low, high) {
    const splits = [];
    for (let power = Math.ceil(Math.log10(low) - 1e-9); 10 ** power <= high * 1.000001; power += 1) splits.push(10 ** power);
    return splits;
  },

  rates(subjects) {
    const series = subjects.flatMap((subject, index) => {
      let bytes = 0;
      const steps = subject.pictures.rates.steps.filter((step) => step.rate_per_mib > 0 && step.bytes > 0)
        .map((step) => ({ ...step, end: (bytes += step.bytes) }));
      if (!steps.length) return [];
      const x = steps.map((step) => step.end);
      const made = [{
        name: subjects.length > 1 ? subject.name : "accesses per second and MiB",
        colour: index, x, y: steps.map((step) => step.rate_per_mib),
      }];
      const hot = steps.map((step) => (step.saturated_share >= 0.5 ? step.rate_per_mib : null));
      if (hot.some((rate) => rate != null)) {
        made.push({
          name: `${subjects.length > 1 ? `${subject.name}, ` : ""}too hot to measure: a lower bound`,
          colour: subjects.length > 1 ? index : 1, x, y: hot, line: false, points: true,
        });
      }
      return made;
    });
    if (!series.length) return { words: "No access was seen, so there are no rates to draw." };
    return {
      x: { name: "the hottest memory up to", format: Format.bytes, log: true, splits: Curves.powers },
      y: { name: "accesses per second and MiB", format: Format.count, log: true, splits: Curves.decades, space: 18 },
      series, height: 260, marks: Curves.marks(subjects),
    };
  },

  // Powers of two, thinned out to what has room.
  powers(chart, axis, low, high) {
    const room = Math.max(2, Math.floor(chart.bbox.width / (devicePixelRatio || 1) / 80));
    const [from, to] = [Math.ceil(Math.log2(low)), Math.floor(Math.log2(high))];
    const step = Math.max(1, Math.ceil((to - from + 1) / room));
    const splits = [];
    for (let power = from; power <= to; power += step) splits.push(2 ** power);
    return splits.length ? splits : [low];
  },
};
