// What the pages share: texts, numbers, lines, a box of axes, and what a pointer means.
const $ = id => document.getElementById(id);
const PLUS = "#D55E00", MINUS = "#0072B2";
const esc = s => String(s).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }[c]));
const num = (x, k = 5) => Number(x.toPrecision(k)).toString();
const line = (points, style) => `<path fill="none" d="${points.map((p, k) => (k ? "L" : "M") + p[0].toFixed(2) + " " +
  p[1].toFixed(2)).join("")}" ${style}/>`;
const text = (x, y, s, more = "") => `<text x="${x}" y="${y}" font-size="11" fill="#555" ${more}>${esc(s)}</text>`;

// Shares of a segment at which a curve is drawn, one for every two units of the picture: a parabola looks like one.
const shares = (from, to) => {
  const n = Math.max(1, Math.ceil(Math.abs(to - from) / 2));
  return Array.from({ length: n + 1 }, (_, k) => k / n);
};

// Powers of ten strictly between two numbers, on a logarithmic axis.
const decades = (a, b) => Array.from({ length: 64 }, (_, k) => 10 ** (k - 32))
  .filter(v => v > 1.5 * Math.min(a, b) && 1.5 * v < Math.max(a, b));

// A box of axes: from data to the picture, with the numbers at both ends of each axis; x is logarithmic on demand.
function axes(W, H, [x0, x1], [y0, y1], xname, yname, log = false) {
  const l = 48, r = 12, top = 10, low = 30, along = log ? x => Math.log(x / x0) / Math.log(x1 / x0) : x => (x - x0) / (x1 - x0 || 1);
  const X = x => l + along(x) * (W - l - r), Y = y => H - low - (y - y0) / (y1 - y0 || 1) * (H - low - top);
  const ticks = log ? decades(x0, x1).map(v => line([[X(v), H - low], [X(v), H - low - 4]], 'stroke="#999"') +
    (Math.abs(X(v) - l) > 45 && Math.abs(X(v) - W + r) > 45 ? text(X(v), H - 17, num(v, 1), 'text-anchor="middle"') : "")).join("") : "";
  const frame = `<rect x="${l}" y="${top}" width="${W - l - r}" height="${H - low - top}" fill="none" stroke="#bbb"/>` +
    ticks + text(l, H - 17, num(x0, 3)) + text(W - r, H - 17, num(x1, 3), 'text-anchor="end"') +
    text((l + W - r) / 2, H - 3, xname, 'text-anchor="middle"') +
    text(l - 4, H - low, num(y0, 3), 'text-anchor="end"') + text(l - 4, top + 9, num(y1, 3), 'text-anchor="end"') +
    text(12, (H - low) / 2, yname, `text-anchor="middle" transform="rotate(-90 12 ${(H - low) / 2})"`);
  return { X, Y, frame, clip: [l, top, W - l - r, H - low - top] };
}

// Where a pointer is, in the units of a picture, and in those of its axes.
const spot = (svg, e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
const place = (svg, e, box, [[x0, x1], [y0, y1]]) => {
  const p = spot(svg, e), [l, top, w, h] = box.clip;
  return [x0 + (p.x - l) / w * (x1 - x0), y1 - (p.y - top) / h * (y1 - y0)];
};

// How far from its centre a handle can be grasped, in the units of a picture: 12 px with a mouse, 22 px with a finger.
const reach = (svg, touch) => (touch ? 22 : 12) / svg.getScreenCTM().a;
const TOUCH = matchMedia("(any-pointer: coarse)").matches;
// The area around a handle that takes the pointer. It is drawn before what is seen; of areas that overlap see `grasped`.
const area = (svg, [name, x, y]) => `<circle class="area" data-hold="${name}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${
  reach(svg, TOUCH).toFixed(1)}"/>`;
// The name of the handle, of [name, x, y], that a pointer means: the nearest one within reach, or null.
function grasped(svg, e, handles) {
  const p = spot(svg, e), far = h => Math.hypot(h[1] - p.x, h[2] - p.y);
  const best = handles.reduce((found, h) => found && far(found) < far(h) ? found : h, null);
  return best && far(best) <= reach(svg, e.pointerType === "touch") ? best[0] : null;
}
