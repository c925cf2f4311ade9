// Weak duality of the 2C-SVM with the linear kernel, as lesson 2 has it: the same names. A problem P holds the samples X,
// their labels y (1 or -1) and their caps c; every classifier (w, b) is an upper bound, all multipliers a lower one.
const dot = (u, v) => u.reduce((sum, each, k) => sum + each * v[k], 0);
const capsOf = (y, costs) => y.map(label => costs[label > 0 ? 0 : 1]);
const margins = (P, w, b) => P.X.map((x, i) => P.y[i] * (dot(w, x) + b));
const slope = (P, alpha) => P.X[0].map((_, k) => P.X.reduce((sum, x, i) => sum + alpha[i] * P.y[i] * x[k], 0));

// The price of a classifier, |w|^2 / 2 + sum of c_i max(0, 1 - m_i).
const primal = (P, w, b) => dot(w, w) / 2 + dot(P.c, margins(P, w, b).map(m => Math.max(0, 1 - m)));

// The value of multipliers in their box that balance, sum of a_i - |w_a|^2 / 2.
function dual(P, alpha) {
  const w = slope(P, alpha);
  return alpha.reduce((sum, a) => sum + a, 0) - dot(w, w) / 2;
}

// What P - D is a sum of; none of the three is negative.
function threeTerms(P, w, b, alpha) {
  const m = margins(P, w, b), slack = m.map(each => Math.max(0, 1 - each));
  const turn = slope(P, alpha).map((each, k) => w[k] - each);
  return {
    turn: dot(turn, turn) / 2,
    beyond: alpha.map((a, i) => a * (m[i] - 1 + slack[i])), // a multiplier on a sample beyond its margin
    short: alpha.map((a, i) => (P.c[i] - a) * slack[i]), // slack, and no full multiplier
  };
}

// Any numbers as multipliers: into their box, and the heavier class scaled down until both have the same sum.
function balanced(P, alpha) {
  const inside = alpha.map((a, i) => Math.min(Math.max(a, 0), P.c[i]));
  const sums = [1, -1].map(label => inside.reduce((sum, a, i) => sum + (P.y[i] === label ? a : 0), 0));
  const least = Math.min(...sums);
  return inside.map((a, i) => { const sum = sums[P.y[i] > 0 ? 0 : 1]; return sum > 0 ? a * (least / sum) : 0; });
}

// The nearest multipliers that balance: one shift, up for one class and down for the other, found by halving.
function back(P, v) {
  const moved = shift => v.map((each, i) => Math.min(Math.max(each - shift * P.y[i], 0), P.c[i]));
  let high = 1 + v.reduce((most, each) => Math.max(most, Math.abs(each)), 0) + Math.max(...P.c), low = -high;
  for (let k = 0; k < 100; k++) {
    const middle = (low + high) / 2;
    if (dot(P.y, moved(middle)) > 0) low = middle; else high = middle;
  }
  return balanced(P, moved((low + high) / 2));
}

// The largest eigenvalue of the scatter of X, hence of Q on multipliers that balance: a step of 1 over it is never too long.
function steepest(P) {
  const mean = P.X[0].map((_, k) => P.X.reduce((sum, x) => sum + x[k] / P.X.length, 0));
  const centred = P.X.map(x => x.map((each, k) => each - mean[k]));
  const G = mean.map((_, j) => mean.map((__, k) => centred.reduce((sum, x) => sum + x[j] * x[k], 0)));
  let v = G.map((_, k) => 1 + k / 7), size = 0;
  for (let k = 0; k < 200; k++) {
    const next = G.map(row => dot(row, v)), long = Math.sqrt(dot(next, next));
    if (long === 0) break;
    size = long / Math.sqrt(dot(v, v));
    v = next.map(each => each / long);
  }
  return size > 0 ? size * (1 + 1e-9) : 1;
}

// The best intercept for a slope: the price is piecewise linear in b, so some corner is best.
const bestIntercept = (P, w) => P.X.map((x, i) => P.y[i] - dot(w, x))
  .reduce((best, b) => primal(P, w, b) < primal(P, w, best) ? b : best);

// One step of the simplest method: uphill in alpha, back to where multipliers balance, and the classifier made of them.
function step(P, alpha) {
  const m = margins(P, slope(P, alpha), 0), long = 1 / steepest(P);
  const next = back(P, alpha.map((a, i) => a + long * (1 - m[i]))), w = slope(P, next);
  return { alpha: next, w, b: bestIntercept(P, w) };
}
