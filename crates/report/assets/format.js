"use strict";
// Numbers as the terminal report writes them.
const Format = {
  bytes(value) {
    const units = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]];
    const [unit, size] = units.find(([, size]) => value >= size) ?? ["B", 1];
    const scaled = value / size;
    return `${unit === "B" ? Math.round(scaled) : Format.three(scaled)} ${unit}`;
  },
  // Three significant digits.
  three(value) {
    return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  },
  bytesPerSecond(value) {
    return value < 0.5 ? "0" : `${Format.bytes(value)}/s`;
  },
  percent(share) {
    const value = share * 100;
    if (value === 0) return "0 %";
    if (Math.abs(value) < 0.1) return "<0.1 %";
    const whole = Math.abs(value) >= 9.95 || Math.abs(value - Math.round(value)) < 0.05;
    return `${value.toFixed(whole ? 0 : 1)} %`;
  },
  // With the digits that somebody gave.
  exactly(share) {
    return `${Number((share * 100).toFixed(6))} %`;
  },
  band(low, high) {
    const [from, to] = [Format.percent(low), Format.percent(high)];
    return from === to ? to : `${from.replace(" %", "")} – ${to}`;
  },
  count(value) {
    const [prefix, size] = [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]]
      .find(([, size]) => value >= size) ?? ["", 1];
    const scaled = value / size;
    const digits = scaled > 0 && scaled < 0.0995 ? 3 : scaled > 0 && scaled < 0.995 ? 2
      : scaled < 9.95 && Math.abs(scaled - Math.round(scaled)) >= 0.05 ? 1 : 0;
    return `${scaled.toFixed(digits)} ${prefix}`.trim();
  },
  seconds(value) {
    const whole = Math.round(value);
    if (value < 9.95 && Math.abs(value - whole) >= 0.05) return `${value.toFixed(1)} s`;
    if (whole < 120) return `${whole} s`;
    const pad = (n) => String(n).padStart(2, "0");
    if (whole < 7200) return `${Math.floor(whole / 60)}:${pad(whole % 60)} min`;
    return `${Math.floor(whole / 3600)}:${pad(Math.floor((whole % 3600) / 60))} h`;
  },
  // Steps of a time axis that read well.
  SECONDS: [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800],
  address(value) {
    return `0x${value.toString(16)}`;
  },
};
