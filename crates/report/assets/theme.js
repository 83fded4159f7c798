// Colours as the style sheet has them, and the scale of heat.
const Theme = {
  get(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  },
  series(index) {
    return Theme.get(`s${index % 8}`);
  },
  fade(colour, share) {
    const hex = colour.replace("#", "");
    const full = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
    return `#${full}${Math.round(share * 255).toString(16).padStart(2, "0")}`;
  },
  // Viridis (Smith, van der Walt 2015, CC0) at eleven places: equal steps look equal, also to
  // those who do not tell red from green, and in grey.
  viridis: [
    [68, 1, 84], [72, 36, 117], [65, 68, 135], [53, 95, 141], [42, 120, 142], [33, 145, 140],
    [34, 168, 132], [68, 191, 112], [122, 209, 81], [189, 223, 38], [253, 231, 37],
  ],
  heat(part) {
    const at = Math.min(Math.max(part, 0), 1) * (Theme.viridis.length - 1);
    const below = Math.min(Math.floor(at), Theme.viridis.length - 2);
    const mix = (i) => Math.round(Theme.viridis[below][i]
      + (Theme.viridis[below + 1][i] - Theme.viridis[below][i]) * (at - below));
    return `rgb(${mix(0)},${mix(1)},${mix(2)})`;
  },
  // Calls back whenever colours change: another scheme, or paper.
  onChange(redraw) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    matchMedia("print").addEventListener("change", redraw);
  },
};
