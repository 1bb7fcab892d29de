// Draws the tokens of each day, above the table that has the same numbers.

import uPlot from "./uplot.js";

const DAY_SECONDS = 24 * 60 * 60;
const LABEL_FONT = "13px system-ui, sans-serif";

const roleColour = (role) => getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim();

// The days from the first to the last one, each with its tokens; zero where the table has no row.
export function dailyTokens(section) {
  const rows = [...section.querySelectorAll("tr[data-day]")];
  const known = new Map(rows.map((row) => [Number(row.dataset.day), row.dataset]));
  const days = [];
  for (let day = Number(section.dataset.from); day <= Number(section.dataset.until); day += DAY_SECONDS) days.push(day);
  const tokens = (kind) => days.map((day) => Number(known.get(day)?.[kind] ?? 0));
  return [days, tokens("input"), tokens("output")];
}

function axis(more) {
  const line = { stroke: roleColour("rule"), width: 1 };
  return { stroke: roleColour("muted"), font: LABEL_FONT, grid: line, ticks: line, ...more };
}

function line(role, dash) {
  return { stroke: roleColour(role), width: 2, dash, points: { show: true, size: 4, fill: roleColour(role) } };
}

function chartOf(place, data) {
  const options = {
    width: place.clientWidth,
    height: place.clientHeight,
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    scales: { y: { range: (_, __, most) => [0, Math.max(most, 1) * 1.1] } },
    axes: [
      axis({ values: "{YYYY}-{MM}-{DD}", space: 100 }),
      axis({ size: 72, values: (_, marks) => marks.map((mark) => mark.toLocaleString("en")) }),
    ],
    series: [{}, line("info"), line("positive", [8, 4])],
  };
  return new uPlot(options, data, place);
}

export function drawUsage(section) {
  const place = section.querySelector("[data-chart]");
  if (!place) return;
  const data = dailyTokens(section);
  for (const part of section.querySelectorAll("[data-drawn]")) part.hidden = false;
  let chart = chartOf(place, data);
  new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: place.clientHeight })).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    chart.destroy();
    chart = chartOf(place, data);
  });
}
