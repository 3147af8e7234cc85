"use strict";
// Lanes are stretched drawings: a closer look is another view box, and texts are placed anew.
const { seconds, span, events } = JSON.parse(document.getElementById("data").textContent);
const ROWS_MAX = 200;
const chart = document.getElementById("chart");
const lanes = [...chart.querySelectorAll("svg")];
const axis = chart.querySelector(".axis .lane");
let from = 0, width = span;

function step(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map(factor => factor * power).find(step => step >= least);
}

function drawAxis() {
  const [first, last] = [from, from + width].map(x => x / span * seconds);
  const every = step((last - first) / 8);
  const digits = Math.max(0, -Math.floor(Math.log10(every)));
  axis.replaceChildren();
  for (let at = Math.ceil(first / every) * every; at <= last; at += every) {
    const mark = document.createElement("span");
    mark.dataset.x = at / seconds * span;
    mark.textContent = at.toFixed(digits) + " s";
    axis.append(mark);
  }
}

function draw() {
  drawAxis();
  for (const lane of lanes) lane.setAttribute("viewBox", `${from} 0 ${width} ${lane.dataset.h}`);
  for (const text of chart.querySelectorAll("[data-x]")) {
    const place = (text.dataset.x - from) / width;
    text.style.left = place * 100 + "%";
    text.hidden = place < -0.001 || place > 1;
  }
  list();
}

function list() {
  const words = document.getElementById("filter").value.toLowerCase();
  const seen = events.filter(([, x, , reason, text]) =>
    x >= from && x <= from + width && (reason + text).toLowerCase().includes(words));
  const rows = seen.slice(0, ROWS_MAX).map(row);
  document.getElementById("events").replaceChildren(...rows);
  document.getElementById("shown").textContent = `${rows.length} of ${seen.length} in view`;
}

function row([line, , at, reason, text]) {
  const row = document.createElement("tr");
  for (const content of [line, at.toFixed(3) + " s", reason, text]) {
    const cell = document.createElement("td");
    cell.textContent = content;
    row.append(cell);
  }
  return row;
}

function show(rows) {
  const table = document.createElement("table");
  table.append(...rows.map(row));
  document.getElementById("detail").replaceChildren(table);
}

function place(event) {
  const box = axis.getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
}

let pressed = null;
const selection = document.createElement("div");
selection.id = "selection";
chart.addEventListener("pointerdown", event => { pressed = place(event); });
addEventListener("pointermove", event => {
  if (pressed === null) return;
  const [left, right] = [pressed, place(event)].sort((a, b) => a - b);
  const box = axis.getBoundingClientRect(), whole = chart.getBoundingClientRect();
  selection.style.left = box.left - whole.left + left * box.width + "px";
  selection.style.width = (right - left) * box.width + "px";
  chart.append(selection);
});
addEventListener("pointerup", event => {
  if (pressed === null) return;
  const [left, right] = [pressed, place(event)].sort((a, b) => a - b);
  pressed = null;
  selection.remove();
  if (right - left > 0.005) {
    [from, width] = [from + left * width, Math.max((right - left) * width, span / 1e5)];
    draw();
  } else if (!event.target.dataset.line) {
    const x = from + left * width;
    const near = [...events].sort((a, b) => Math.abs(a[1] - x) - Math.abs(b[1] - x)).slice(0, 8);
    show(near.sort((a, b) => a[0] - b[0]));
  }
});
chart.addEventListener("dblclick", () => { [from, width] = [0, span]; draw(); });
document.addEventListener("click", event => {
  const line = Number(event.target.closest("[data-line]")?.dataset.line);
  if (line) show(events.filter(each => each[0] === line));
});
document.getElementById("filter").addEventListener("input", list);
draw();
