// What the pages share: texts, numbers, lines, and a box of axes.
const $ = id => document.getElementById(id);
const PLUS = "#D55E00", MINUS = "#0072B2";
const esc = s => String(s).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }[c]));
const num = (x, k = 5) => Number(x.toPrecision(k)).toString();
const line = (points, style) => `<path fill="none" d="${points.map((p, k) => (k ? "L" : "M") + p[0].toFixed(2) + " " +
  p[1].toFixed(2)).join("")}" ${style}/>`;
const text = (x, y, s, more = "") => `<text x="${x}" y="${y}" font-size="11" fill="#555" ${more}>${esc(s)}</text>`;

// A box of axes: from data to the picture, with the numbers at both ends of each axis.
function axes(W, H, [x0, x1], [y0, y1], xname, yname) {
  const l = 48, r = 12, top = 10, low = 30;
  const X = x => l + (x - x0) / (x1 - x0 || 1) * (W - l - r), Y = y => H - low - (y - y0) / (y1 - y0 || 1) * (H - low - top);
  const frame = `<rect x="${l}" y="${top}" width="${W - l - r}" height="${H - low - top}" fill="none" stroke="#bbb"/>` +
    text(l, H - 14, num(x0, 3)) + text(W - r, H - 14, num(x1, 3), 'text-anchor="end"') +
    text((l + W - r) / 2, H - 4, xname, 'text-anchor="middle"') +
    text(l - 4, H - low, num(y0, 3), 'text-anchor="end"') + text(l - 4, top + 9, num(y1, 3), 'text-anchor="end"') +
    text(12, (H - low) / 2, yname, `text-anchor="middle" transform="rotate(-90 12 ${(H - low) / 2})"`);
  return { X, Y, frame, clip: [l, top, W - l - r, H - low - top] };
}

// Where a pointer is, in the units of a picture that is 420 wide.
const place = (svg, e, box, [[x0, x1], [y0, y1]]) => {
  const r = svg.getBoundingClientRect(), [l, top, w, h] = box.clip, k = 420 / r.width;
  return [x0 + ((e.clientX - r.left) * k - l) / w * (x1 - x0), y1 - ((e.clientY - r.top) * k - top) / h * (y1 - y0)];
};
