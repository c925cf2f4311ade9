// The textbook tracker of paretoclf/engine/textbook.py, in doubles, for the page that recomputes: the same names, the same
// four exchanges. min a'Qa/2 - sum(a) subject to y'a = 0, 0 <= a <= c(t), t from 0 to 1; eta is the intercept b.
const RIGHT = 0, LEFT = 1, MARGIN = 2;
const TIE = 1e-9; // events that are this near to the first one are at the same t: the lowest index goes first
const NOISE = 1e-10, PIVOT = 1e-12; // a rate, and a pivot, below this share of their terms are rounding
const dot = (u, v) => { let sum = 0; for (let k = 0; k < u.length; k++) sum += u[k] * v[k]; return sum; };
const most = u => u.reduce((m, v) => Math.max(m, Math.abs(v)), 0);

// X with M X = B, by elimination with the largest pivot; B is a list of columns.
function solve(M, B) {
  const n = M.length, T = M.map((row, i) => [...row, ...B.map(column => column[i])]);
  for (let k = 0; k < n; k++) {
    let p = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(T[i][k]) > Math.abs(T[p][k])) p = i;
    if (T[p][k] === 0) throw new Error("the margin system is singular");
    [T[k], T[p]] = [T[p], T[k]];
    for (let i = 0; i < n; i++) {
      const f = i === k ? 0 : T[i][k] / T[k][k];
      if (f !== 0) for (let j = k; j < T[i].length; j++) T[i][j] -= f * T[k][j];
    }
  }
  return B.map((_, j) => T.map((row, i) => row[n + j] / row[i]));
}

// The matrix of the basis with margin set F: Q_FF, bordered by y_F.
const system = (P, F) => [...F.map(i => [...F.map(j => P.Q[i][j]), P.y[i]]), [...F.map(j => P.y[j]), 0]];
const members = basis => basis.flatMap((set, i) => set === MARGIN ? [i] : []);

// The solution on a basis at t, and its rate: multipliers a, gradient g, intercept eta.
function solveOn(P, basis, t) {
  const F = members(basis), M = system(P, F), one = F.every(j => P.y[j] === P.y[F[0]]);
  const origin = F.length && one ? P.y[F[0]] : 0; // next to zero costs b is nearly a label: nothing then cancels
  const caps = [P.c[0].map((c, i) => (1 - t) * c + t * P.c[1][i]), P.c[0].map((c, i) => P.c[1][i] - c)];
  const a = caps.map(c => c.map((v, i) => basis[i] === LEFT ? v : 0));
  const eta = [0, 0], g = [];
  const right = [0, 1].map(k => [...F.map(i => (k ? 0 : 1 - origin * P.y[i]) - dot(P.Q[i], a[k])), -dot(P.y, a[k])]);
  const found = solve(M, right);
  for (const k of [0, 1]) {
    F.forEach((i, j) => { a[k][i] = found[k][j]; });
    eta[k] = found[k][F.length];
    g[k] = P.y.map((y, i) => basis[i] === MARGIN ? 0 : dot(P.Q[i], a[k]) - (k ? 0 : 1 - origin * y) + eta[k] * y);
  }
  return { a, g, eta: [eta[0] + origin, eta[1]], caps };
}

// How index i depends on F: its pivot, the combination u of F that is nearest, and what of the pivot is noise.
function column(P, basis, i) {
  const F = members(basis), right = [...F.map(j => P.Q[j][i]), P.y[i]], [x] = solve(system(P, F), [right]);
  const u = x.slice(0, F.length), size = (1 + u.reduce((s, v) => s + Math.abs(v), 0)) ** 2;
  return { pivot: P.Q[i][i] - dot(right, x), u, F, negligible: PIVOT * size * Math.max(...[i, ...F].map(j => P.Q[j][j])) };
}

// The first inequality to be violated after t, of ties that of the lowest index; or the end of the line.
function firstEvent(P, basis, s, t) {
  const [a, da] = s.a, [g, dg] = s.g, [c, dc] = s.caps, events = [];
  const large = most(da), rate = NOISE * large, moved = da.map(Math.abs);
  basis.forEach((set, i) => {
    const free = set === MARGIN, noise = free ? rate : NOISE * (dot(P.Q[i].map(Math.abs), moved) + Math.abs(s.eta[1]));
    const asked = free ? [[a[i], -da[i], RIGHT], [c[i] - a[i], da[i] - dc[i], LEFT]] :
      [set === RIGHT ? [g[i], -dg[i], MARGIN] : [-g[i], dg[i], MARGIN]];
    for (const [slack, speed, to] of asked) if (speed > noise) {
      const at = t + Math.max(slack, 0) / speed;
      if (at < 1 - 1e-13) events.push({ t: at, who: i, to });
    }
  });
  while (events.length) {
    const first = Math.min(...events.map(e => e.t));
    const next = events.filter(e => e.t <= first + TIE * (1 - first)).reduce((m, e) => e.who < m.who ? e : m);
    if (basis[next.who] === MARGIN) return next;
    const { pivot, negligible } = column(P, basis, next.who); // what depends on F rests on its margin
    if (pivot > negligible || Math.abs(dg[next.who]) > 10 * negligible * Math.max(large, most(dc))) return next;
    events.splice(events.indexOf(next), 1);
  }
  return { t: 1, who: -1 };
}

// The basis after one of the four exchanges, given multipliers and gradient at the event.
function exchange(P, basis, event, a, g) {
  const i = event.who, next = basis.slice();
  if (basis[i] !== MARGIN) {
    const { pivot, u, F, negligible } = column(P, basis, i);
    next[i] = MARGIN; // 1
    if (pivot <= negligible) enterDependent(P, next, basis[i], event, u, F, a); // 2
    return next;
  }
  next[i] = event.to; // 3
  if (!next.includes(MARGIN)) next[successor(P, next, event, g)] = MARGIN; // 4
  return next;
}

// Exchange 2: i moves inwards, F by -u for each unit of it, until something else reaches a bound and leaves F for it.
function enterDependent(P, next, before, event, u, F, a) {
  const i = event.who, c = P.c[0].map((v, k) => (1 - event.t) * v + event.t * P.c[1][k]);
  const inwards = before === RIGHT ? 1 : -1, large = most(u);
  const steps = [{ room: c[i], who: i, to: before === RIGHT ? LEFT : RIGHT }];
  F.forEach((j, k) => {
    const v = -inwards * u[k];
    if (Math.abs(v) > NOISE * large)
      steps.push({ room: Math.max(v < 0 ? a[j] : c[j] - a[j], 0) / Math.abs(v), who: j, to: v < 0 ? RIGHT : LEFT });
  });
  const least = Math.min(...steps.map(s => s.room)), tied = least + TIE * most(c);
  const leaver = steps.filter(s => s.room <= tied).reduce((m, s) => s.who < m.who ? s : m);
  next[leaver.who] = leaver.to;
}

// Exchange 4: eta takes g of the leaver up if a is 0, down if at its cap; the first on its margin takes over.
function successor(P, next, event, g) {
  const sign = P.y[event.who] * (event.to === RIGHT ? 1 : -1);
  const able = next.flatMap((set, j) => j !== event.who &&
    (set === LEFT ? P.y[j] * sign > 0 : P.y[j] * sign < 0) ? [j] : []);
  if (!able.length) throw new Error("no sample can balance the group");
  const least = Math.min(...able.map(j => Math.abs(g[j])));
  return able.find(j => Math.abs(g[j]) <= least + TIE);
}

// Follow the solution from t = 0, where it has this basis, to t = 1: one segment for each basis on the way.
function follow(P, basis) {
  const segments = [];
  let t = 0;
  for (let k = 0; k < 400 * P.y.length + 1000; k++) {
    const s = solveOn(P, basis, t), event = firstEvent(P, basis, s, t), step = event.t - t;
    const after = ([x, dx]) => x.map((v, i) => v + step * dx[i]), a = after(s.a);
    segments.push({ t0: t, t1: event.t, basis, a: [s.a[0], a], eta: [s.eta[0], s.eta[0] + step * s.eta[1]] });
    if (event.who < 0) return segments;
    basis = exchange(P, basis, event, a, after(s.g));
    t = event.t;
  }
  throw new Error("no progress");
}

// Kernel values: bandwidth null for the linear kernel.
const kernelValues = (X, Z, bandwidth) => X.map(x => Z.map(z => bandwidth === null ? dot(x, z) :
  Math.exp(-x.reduce((s, v, k) => s + (v - z[k]) ** 2, 0) / (2 * bandwidth ** 2))));

// Every optimum from the costs start to stop: up the balanced ray from zero, across to start, and along the line.
function trace(X, y, bandwidth, start, stop) {
  const K = kernelValues(X, X, bandwidth), Q = K.map((row, i) => row.map((v, j) => y[i] * y[j] * v));
  const caps = ([plus, minus]) => y.map(label => label > 0 ? plus : minus);
  const n = [y.filter(v => v > 0).length, y.filter(v => v < 0).length], total = start[0] + start[1];
  const hub = [n[1] / (n[0] + n[1]) * total, n[0] / (n[0] + n[1]) * total];
  let basis = y.map(() => LEFT);
  basis[y.indexOf(1)] = MARGIN; // at costs of zero every multiplier is at its cap, and one positive holds b = 1
  let segments = [];
  for (const [from, to] of [[[0, 0], hub], [hub, start], [start, stop]]) {
    segments = follow({ Q, y, c: [caps(from), caps(to)] }, basis);
    basis = segments[segments.length - 1].basis;
  }
  return { K, Q, caps: [caps(start), caps(stop)], segments: segments.filter(s => s.t1 > s.t0 + 1e-12) };
}

// What a page shows of the path of these samples, in the form in which Python writes it (page.py): `d` is a page's data,
// `edit` its samples X in the plane, labels y, the bandwidth, both ends of the line, and held-out samples.
function pathData(d, edit) {
  const { X, bandwidth, start, stop } = edit, y = edit.y.slice();
  const mean = [0, 1].map(k => X.reduce((s, x) => s + x[k], 0) / X.length);
  const p = trace(X.map(x => x.map((v, k) => v - mean[k])), y, bandwidth, start, stop), S = p.segments;
  const slope = a => [0, 1].map(k => a.reduce((sum, v, i) => sum + v * y[i] * (X[i][k] - mean[k]), 0));
  const knots = [...S.map(s => s.a[0]), S[S.length - 1].a[1]];
  const w = bandwidth === null ? knots.map(slope) : null;
  const shift = j => w ? dot(w[j], mean) : 0; // the tracker measures samples from their mean
  const b0 = S.map((s, j) => s.eta[0] - shift(j)), b1 = S.map((s, j) => s.eta[1] - shift(j + 1));
  const at = (s, f) => ({ a: s.a[0].map((v, i) => (1 - f) * v + f * s.a[1][i]), eta: (1 - f) * s.eta[0] + f * s.eta[1],
    caps: p.caps[0].map((c, i) => c + ((1 - f) * s.t0 + f * s.t1) * (p.caps[1][i] - c)) });
  const bounds = S.map(s => [0, .5, 1].map(f => proof(p, y, at(s, f))));
  const bernstein = ([u, v, z]) => [u, 2 * v - (u + z) / 2, z];
  const changes = [[], [], []];
  S.forEach((s, j) => j && s.basis.forEach((set, i) => {
    if (set !== S[j - 1].basis[i]) [j, i, set].forEach((v, k) => changes[k].push(v));
  }));
  const F = S.map(s => members(s.basis)), ptr = F.reduce((sums, f) => [...sums, sums[sums.length - 1] + f.length], [0]);
  const points = d.grid.y.flatMap(v => d.grid.x.map(u => [u, v]));
  const shapes = w ? points.map(q => [1, ...q]) : kernelValues(points, X, bandwidth).map(row => [1, ...row]);
  const parts = (b, a) => [b, ...(w ? slope(a) : a.map((v, i) => v * y[i]))];
  const columns = (b, end) => S.map((s, j) => parts(b[j], s.a[end]))
    .reduce((rows, column) => column.map((v, k) => [...(rows[k] || []), v]), []);
  return { ...d, t: [S[0].t0, ...S.map(s => s.t1)], state: S[0].basis.slice(), changes, ptr, index: F.flat(),
    a0: S.flatMap((s, j) => F[j].map(i => s.a[0][i])), a1: S.flatMap((s, j) => F[j].map(i => s.a[1][i])),
    value: bounds.map(([u, v, z]) => [u.dual, z.dual, 2 * (u.dual + z.dual) - 4 * v.dual]), b0, b1, caps: p.caps,
    costs: [start, stop], w, dual: bounds.map(each => bernstein(each.map(q => q.dual))),
    gaps: bounds.map(each => bernstein(each.map(q => q.primal - q.dual)).map(g => Math.max(g, 0))),
    gap: bounds.map(each => Math.max(...each.map(q => Math.abs(q.primal - q.dual) / (Math.abs(q.dual) || 1)))),
    residual: Math.max(...bounds.flat().map(q => q.residual)), y, at: X.map(x => x.slice()),
    grid: { ...d.grid, shapes, start: columns(b0, 0), end: columns(b1, 1) }, edit: { ...edit, y } };
}

// Objectives at a feasible point of each program, and the largest residual: box, balance, and margins of M at 1.
function proof(p, y, { a, eta, caps }) {
  const Qa = p.Q.map(row => dot(row, a)), norm = dot(a, Qa), margins = Qa.map((v, i) => v + y[i] * eta);
  const slacks = margins.reduce((sum, m, i) => sum + caps[i] * Math.max(0, 1 - m), 0);
  const box = a.map((v, i) => Math.max(-v, v - caps[i], 0) / caps[i]);
  const apart = a.map((v, i) => Math.min(Math.max(v / caps[i], 0), Math.abs(Math.max(margins[i] - 1, 0))) +
    Math.min(Math.max(1 - v / caps[i], 0), Math.max(1 - margins[i], 0)));
  const residual = Math.max(...box, ...apart, Math.abs(dot(y, a)) / caps.reduce((s, c) => s + c, 0));
  return { primal: norm / 2 + slacks, dual: a.reduce((s, v) => s + v, 0) - norm / 2, residual };
}

// Rates of held-out samples along a path, as steps at many t: what a page shows after a change.
function ratesAlong(d, path, held, name) {
  const K = d.w ? null : kernelValues(held.X, d.at, d.edit.bandwidth), count = label => held.y.filter(v => v === label).length;
  const t = [...new Set([...d.t, ...Array.from({ length: 400 }, (_, k) => k / 400)])].sort((u, v) => u - v);
  const rates = t.map(u => {
    const q = path.at(u), f = held.X.map((x, i) => (d.w ? dot(q.w, x) : dot(K[i], q.alpha.map((a, j) => a * d.y[j]))) + q.b);
    return [-1, 1].map(label => held.y.filter((v, i) => v === label && (f[i] >= 0) !== (label > 0)).length / count(label));
  });
  return { name, t, fpr: rates.map(r => r[0]), fnr: rates.map(r => r[1]) };
}
