// A second checker of certificate files, of all kinds, in integers (BigInt): in Node, and in a page.
//
//     node check.js FILE
//
// It is written from the page docs/reference/certificate_files.md, not from the checkers in Python, and the numbers of
// sections are those of the page. Section 11, data of the reader's own, is not here: nothing is compared.
//
// What is affine in t, or in s and t, is a list: its value at 0 and its rates. A fraction is [numerator, denominator].
"use strict";

function need(condition, text) {
  if (!condition) throw new Error(text);
}

// ---- Integers and fractions -----------------------------------------------------------------------------------------

const abs = (a) => (a < 0n ? -a : a);
const maximum = (numbers) => numbers.reduce((most, each) => (each > most ? each : most), 0n);
const sum = (numbers) => numbers.reduce((total, each) => total + each, 0n);

function gcd(a, b) {
  a = abs(a);
  b = abs(b);
  while (b) [a, b] = [b, a % b];
  return a;
}

function floorQuotient(a, b) {
  const quotient = a / b; // towards 0
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

const ceilingQuotient = (a, b) => -floorQuotient(-a, b);

function bitLength(a) {
  return a === 0n ? 0 : abs(a).toString(2).length;
}

function squareRoot(value) { // rounded down
  let root = 1n << BigInt((bitLength(value) + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

function dot(left, right) {
  let total = 0n;
  const size = Math.min(left.length, right.length);
  for (let i = 0; i < size; i++) if (left[i]) total += left[i] * right[i];
  return total;
}

function fraction(numerator, denominator) {
  need(denominator !== 0n, "a fraction over 0");
  if (denominator < 0n) [numerator, denominator] = [-numerator, -denominator];
  const divisor = gcd(numerator, denominator);
  return [numerator / divisor, denominator / divisor];
}

const compare = (a, b) => a[0] * b[1] - b[0] * a[1]; // its sign is that of a - b
const add = (a, b) => fraction(a[0] * b[1] + b[0] * a[1], a[1] * b[1]);
const multiply = (a, b) => fraction(a[0] * b[0], a[1] * b[1]);
const larger = (a, b) => (compare(a, b) >= 0n ? a : b);

function asDouble([numerator, denominator]) { // near it, for words alone
  const shift = BigInt(Math.max(0, bitLength(denominator) - bitLength(numerator) + 80));
  const quotient = (numerator << shift) / denominator;
  const cut = BigInt(Math.max(0, bitLength(quotient) - 60));
  return Number(quotient >> cut) * 2 ** (Number(cut) - Number(shift));
}

// ---- Section 1, File ------------------------------------------------------------------------------------------------

const MOST_DEPTH = 20;
const MOST_DIGITS = 4300;
const MOST_TEXT = 2 ** 28;

/** A number of JSON with a point or an exponent. */
class Double {
  constructor(value) {
    this.value = value;
  }
}

/** Reads JSON: integers stay exact, and no name may stand twice in an object, which becomes a Map. */
class Reader {
  constructor(text) {
    need(text.length <= MOST_TEXT, "the file is too large");
    this.text = text;
    this.at = 0;
  }

  whole() {
    const value = this.value(0);
    this.skip();
    need(this.at === this.text.length, "something stands behind the JSON");
    return value;
  }

  skip() {
    while (this.at < this.text.length && " \n\r\t".includes(this.text[this.at])) this.at++;
  }

  take(symbol) {
    this.skip();
    need(this.text[this.at++] === symbol, `no JSON at place ${this.at}`);
  }

  value(depth) {
    need(depth < MOST_DEPTH, "lists in lists are too deep");
    this.skip();
    const symbol = this.text[this.at];
    if (symbol === "{") return this.object(depth);
    if (symbol === "[") return this.list(depth);
    if (symbol === '"') return this.string();
    for (const [word, value] of [["true", true], ["false", false], ["null", null]]) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
  }

  object(depth) {
    const found = new Map();
    this.take("{");
    this.skip();
    if (this.text[this.at] === "}") {
      this.at++;
      return found;
    }
    for (;;) {
      this.skip();
      const name = this.string();
      need(!found.has(name), "two of a name");
      this.take(":");
      found.set(name, this.value(depth + 1));
      this.skip();
      if (this.text[this.at] === "}") {
        this.at++;
        return found;
      }
      this.take(",");
    }
  }

  list(depth) {
    const found = [];
    this.take("[");
    this.skip();
    if (this.text[this.at] === "]") {
      this.at++;
      return found;
    }
    for (;;) {
      found.push(this.value(depth + 1));
      this.skip();
      if (this.text[this.at] === "]") {
        this.at++;
        return found;
      }
      this.take(",");
    }
  }

  string() {
    const begin = this.at;
    need(this.text[this.at++] === '"', `no JSON at place ${begin}`);
    while (this.text[this.at] !== '"') {
      need(this.at < this.text.length, "a text does not end");
      this.at += this.text[this.at] === "\\" ? 2 : 1;
    }
    this.at++;
    return JSON.parse(this.text.slice(begin, this.at));
  }

  number() {
    const pattern = /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    need(found, `no JSON at place ${this.at}`);
    this.at += found[0].length;
    need(found[0].length <= MOST_DIGITS, "a number has too many digits");
    if (!found[2] && !found[3]) return BigInt(found[0]);
    const value = Number(found[0]);
    need(Number.isFinite(value), "a number is not finite");
    return new Double(value);
  }
}

/** A double as Python writes it, which is what was hashed. */
function pythonDouble(value) {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [mantissa, exponentText] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const digits = String(Math.abs(exponent)).padStart(2, "0");
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${digits}`;
  }
  const text = String(value);
  if (text.includes("e")) return value.toFixed(Math.max(0, mantissa.replace(/[-.]/g, "").length - 1 - exponent));
  return text.includes(".") ? text : `${text}.0`;
}

function quoted(text) {
  const escape = (symbol) => `\\u${symbol.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, escape);
}

/** The compact JSON with sorted keys. */
function compact(value) {
  if (value === null || value === true || value === false) return String(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return quoted(value);
  if (value instanceof Double) return pythonDouble(value.value);
  if (Array.isArray(value)) return `[${value.map(compact).join(",")}]`;
  const names = [...value.keys()].sort(byCodePoints);
  return `{${names.map((name) => `${quoted(name)}:${compact(value.get(name))}`).join(",")}}`;
}

function byCodePoints(left, right) { // as Python sorts; JavaScript compares halves of pairs
  const [one, other] = [[...left], [...right]].map((symbols) => symbols.map((each) => each.codePointAt(0)));
  for (let i = 0; i < Math.min(one.length, other.length); i++) if (one[i] !== other[i]) return one[i] - other[i];
  return one.length - other.length;
}

const primes = (count) => {
  const found = [];
  for (let each = 2; found.length < count; each++) if (found.every((prime) => each % prime)) found.push(each);
  return found;
};
const firstBits = (root) => Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
const ROUND_WORDS = primes(64).map((prime) => firstBits(Math.cbrt(prime)));
const FIRST_WORDS = primes(8).map((prime) => firstBits(Math.sqrt(prime)));

/** SHA-256 of a text, in hexadecimal digits. */
function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  const blocks = (bytes.length + 72) >> 6;
  const padded = new Uint8Array(64 * blocks);
  padded.set(bytes);
  padded[bytes.length] = 128;
  const view = new DataView(padded.buffer);
  view.setBigUint64(64 * blocks - 8, 8n * BigInt(bytes.length));
  const turned = (word, by) => (word >>> by) | (word << (32 - by));
  const state = [...FIRST_WORDS];
  const words = new Int32Array(64);
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(64 * block + 4 * i);
    for (let i = 16; i < 64; i++) {
      const [low, high] = [words[i - 15], words[i - 2]];
      const first = turned(low, 7) ^ turned(low, 18) ^ (low >>> 3);
      const second = turned(high, 17) ^ turned(high, 19) ^ (high >>> 10);
      words[i] = words[i - 16] + first + words[i - 7] + second;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const choice = (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g));
      const first = (h + choice + ROUND_WORDS[i] + words[i]) | 0;
      const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = (state[i] + word) | 0));
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

// ---- Section 2, Numbers ---------------------------------------------------------------------------------------------

const DOUBLE_BITS = new DataView(new ArrayBuffer(8));

/** A number of the file as a fraction: an integer, a double, or a text of digits. */
function numberOf(value) {
  if (typeof value === "bigint") return [value, 1n];
  if (value instanceof Double) {
    DOUBLE_BITS.setFloat64(0, value.value);
    const bits = DOUBLE_BITS.getBigUint64(0);
    const exponent = Number((bits >> 52n) & 2047n);
    const digits = (bits & ((1n << 52n) - 1n)) + (exponent ? 1n << 52n : 0n);
    const power = (exponent || 1) - 1075;
    const signed = bits >> 63n ? -digits : digits;
    return power > 0 ? [signed << BigInt(power), 1n] : fraction(signed, 1n << BigInt(-power));
  }
  need(typeof value === "string" && /^-?[0-9]+(\/[0-9]+)?$/.test(value), "no list of numbers");
  const [numerator, denominator] = value.split("/");
  return fraction(BigInt(numerator), BigInt(denominator || 1));
}

/** Lists of numbers times their common denominator, and that. */
function integers(rows) {
  need(Array.isArray(rows) && rows.every(Array.isArray), "no list of numbers");
  const fractions = rows.map((row) => row.map(numberOf));
  let unit = 1n;
  for (const row of fractions) for (const [, each] of row) if (unit % each) unit *= each / gcd(unit, each);
  return [fractions.map((row) => row.map(([numerator, each]) => numerator * (unit / each))), unit];
}

const MOST_ENTRIES = 5000;

/** Rows of a matrix; a row may be a list of entries, a column and a number each, and what is not there is 0. */
function wholeRows(rows, widthOf) {
  need(Array.isArray(rows) && rows.every(Array.isArray), "a matrix is a list of rows");
  return rows.map((row, i) => {
    if (row.length && !Array.isArray(row[0])) return row;
    const width = widthOf(i);
    need(rows.length <= MOST_ENTRIES && width <= MOST_ENTRIES, "a matrix of entries is too large");
    const whole = Array(width).fill(0n);
    let before = -1n;
    for (const entry of row) {
      need(Array.isArray(entry) && entry.length === 2 && typeof entry[0] === "bigint", "an entry is a column and a number");
      need(before < entry[0] && entry[0] < BigInt(width), "columns of entries increase");
      before = entry[0];
      whole[Number(before)] = entry[1];
    }
    return whole;
  });
}

// ---- Section 3, Fields ----------------------------------------------------------------------------------------------

const SIDES = ["lower", "upper", "below", "above"];
const OWN_FIELDS = {
  program: ["q", "A", ...SIDES],
  "2C-SVM": ["caps"],
  "2nu-SVM": ["caps", "sums"],
  "quantile SVM": ["caps", "lam", "bias"],
  margins: ["q"],
};
const WORDS = {
  program: "x'Px / 2 + q(t)'x + penalties",
  "2C-SVM": "|w|^2 / 2 + sum of caps_i(t) max(0, 1 - y_i (w.x_i + b))",
  "2nu-SVM": "|w|^2 / 2 - sums(t)'(rho - b, rho + b) + sum of caps_i(t) max(0, rho - y_i (w.x_i + b))",
  "quantile SVM": "|lam| |w|^2 / 2 + sum of caps_i(t) max(0, 1 - y_i w.x_i), x_i with a constant 1 if bias",
  margins: "|w|^2 / 2 + sum of xi_i^2 / (2 diagonal_i) with y_i (w.x_i + b) >= -q_i(t) - xi_i, where 0 / 0 = 0",
};

function checkFields(problem, ends) {
  const kind = problem.get("kind");
  need(typeof kind === "string" && Object.hasOwn(OWN_FIELDS, kind), "no such kind");
  const data = kind !== "program" && problem.has("X") ? "X" : "K";
  const asked = kind === "program" ? ["K", ...OWN_FIELDS[kind]] : [data, "y", ...OWN_FIELDS[kind]];
  const optional = ["kind", "about", "diagonal", ...(kind === "program" ? [] : ["positive"])];
  need(asked.every((name) => problem.has(name)), "a field is missing");
  need([...problem.keys()].every((name) => asked.includes(name) || optional.includes(name)), "a field has no meaning");
  for (const name of ["about", "positive"]) need(typeof (problem.get(name) ?? "") === "string", `${name} is a text`);
  need(!problem.has("about") || problem.get("about") !== null, "about is a text");
  need(!problem.has("positive") || problem.get("positive") !== null, "positive is a text");
  if (problem.has("lam")) need(numberOf(problem.get("lam"))[0] !== 0n, "lam must not be 0");
  if (problem.has("bias")) need(typeof problem.get("bias") === "boolean", "bias is true or false");
  for (const name of ["caps", "sums", ...(kind === "program" ? [] : ["q"])]) {
    if (problem.has(name)) need(integers(problem.get(name))[0].length === ends, `${name} at ${ends} places`);
  }
  return data;
}

// ---- Sections 4 to 6: the program in integers -----------------------------------------------------------------------

/** q, rows of A and their right sides of a classifier, whose multipliers are the variables. */
function classifier(problem, signs, ends) {
  const everywhere = (value) => Array.from({ length: ends }, () => value);
  const size = signs.length;
  const kind = problem.get("kind");
  if (kind === "2C-SVM") return [everywhere(Array(size).fill(-1n)), [signs], everywhere([0n])];
  if (kind === "margins") return [problem.get("q"), [signs], everywhere([0n])];
  if (kind === "2nu-SVM") {
    const rows = [1n, -1n].map((side) => signs.map((sign) => (sign === side ? 1n : 0n)));
    return [everywhere(Array(size).fill(0n)), rows, problem.get("sums")];
  }
  const [numerator, denominator] = numberOf(problem.get("lam"));
  return [everywhere(Array(size).fill(`${-abs(numerator)}/${denominator}`)), [], everywhere([])];
}

/** Bounds of multipliers and rows of a classifier; all are hard. */
function classifierSides(problem, size, rows, rightSides, ends) {
  const caps = problem.get("caps") ?? Array.from({ length: ends }, () => Array(size).fill(null));
  need(Array.isArray(rightSides) && rightSides.length === ends && rightSides.every(Array.isArray), "shape of sums");
  const none = Array.from({ length: ends }, () => Array(size + rows).fill(null));
  return {
    lower: rightSides.map((right) => [...Array(size).fill(0n), ...right]),
    upper: rightSides.map((right, end) => [...caps[end], ...right]),
    below: none,
    above: none,
  };
}

/** P and its unit. */
function matrixOf(problem, data, signs) {
  const stated = problem.get(data);
  const isProgram = problem.get("kind") === "program";
  let [rows, unit] = integers(isProgram ? wholeRows(stated, (i) => i + 1) : stated);
  const size = rows.length;
  const width = size ? rows[0].length : 0;
  need(rows.every((row, i) => row.length === (data === "X" ? width : i + 1)), `shape of ${data}`);
  const bias = problem.get("bias") === true;
  if (data === "X" && bias) rows = rows.map((row) => [...row, unit]);
  if (data === "K" && bias) rows = rows.map((row) => row.map((entry) => entry + unit));
  const [[diagonal], diagonalUnit] = integers([problem.get("diagonal") ?? Array(size).fill(0n)]);
  need(diagonal.length === size && diagonal.every((each) => each >= 0n), "a diagonal that is no less than 0");
  if (data === "X") unit *= unit;
  const P = Array.from({ length: size }, () => Array(size).fill(0n));
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      const kernel = data === "X" ? dot(rows[i], rows[j]) : rows[i][j];
      P[i][j] = P[j][i] = signs[i] * signs[j] * kernel * diagonalUnit + (i === j ? unit * diagonal[i] : 0n);
    }
  }
  need(data === "X" || isSemidefinite(P), "P is not proved positive semidefinite");
  return [P, unit * diagonalUnit];
}

/** Whether a symmetric matrix is LL' and a diagonally dominant rest, or elimination meets no negative pivot. */
function isSemidefinite(matrix) {
  return isFactorised(matrix) || isEliminated(matrix);
}

function isFactorised(matrix) {
  const size = matrix.length;
  const largest = maximum([1n, ...matrix.map(maximum)]);
  const factor = [];
  for (let i = 0; i < size; i++) {
    const row = [];
    for (let j = 0; j < i; j++) {
      const scaled = floorQuotient(matrix[i][j] << 256n, largest);
      row.push(floorQuotient(scaled - dot(row, factor[j].slice(0, j)), factor[j][j]));
    }
    const scaled = floorQuotient(matrix[i][i] << 256n, largest);
    const rest = scaled - dot(row, row) - (BigInt(size) << 130n);
    if (rest <= 0n) return false;
    row.push(squareRoot(rest));
    factor.push(row);
  }
  return true;
}

function isEliminated(matrix) {
  let rest = matrix;
  let before = 1n;
  while (rest.length) {
    const [pivot, ...top] = rest[0];
    if (pivot < 0n || (pivot === 0n && top.some((entry) => entry))) return false;
    const divisor = before;
    rest = rest.slice(1).map((row) => {
      const others = row.slice(1);
      return pivot ? others.map((entry, j) => (pivot * entry - row[0] * top[j]) / divisor) : others;
    });
    if (pivot) before = pivot;
  }
  return true;
}

/**
 * The program of a problem. With units p of P, a of A and h of the other numbers, x and bounds of variables are
 * multiplied by h a, values and bounds of rows by h a^2, q and multipliers of variables by h a p, of rows by h p.
 */
function programOf(problem, ends = 2) {
  const data = checkFields(problem, ends);
  const isProgram = problem.get("kind") === "program";
  need(Array.isArray(problem.get(data)), `${data} is a list`);
  const size = problem.get(data).length;
  const signs = isProgram ? Array(size).fill(1n) : problem.get("y");
  need(Array.isArray(signs) && signs.length === size && signs.every((y) => y === 1n || y === -1n), "y is 1 or -1");
  let stated = {};
  let rows;
  if (isProgram) {
    rows = wholeRows(problem.get("A"), () => size);
    for (const name of ["q", ...SIDES]) stated[name] = problem.get(name);
  } else {
    const [q, ownRows, rightSides] = classifier(problem, signs, ends);
    rows = ownRows;
    stated = { q, ...classifierSides(problem, size, rows.length, rightSides, ends) };
  }
  const [A, rowUnit] = integers(rows);
  need(A.every((row) => row.length === size), "shape of A");
  const [P, matrixUnit] = matrixOf(problem, data, signs);
  const items = size + A.length;
  for (const name of ["q", ...SIDES]) {
    const length = name === "q" ? size : items;
    const fits = Array.isArray(stated[name]) && stated[name].length === ends;
    need(fits && stated[name].every((end) => Array.isArray(end) && end.length === length), `shape of ${name}`);
  }
  const [affine, numberUnit] = affineOf(stated, size, items, matrixUnit, rowUnit);
  const H = P.map((row, i) => [...row, ...A.map((each) => each[i])]);
  for (const row of A) H.push([...row, ...Array(A.length).fill(0n)]);
  return { variables: size, H, affine, units: { matrix: matrixUnit, row: rowUnit, number: numberUnit } };
}

/** What is affine, item by item: its value at the first place, and the change to each other one; null is none. */
function affineOf(stated, size, items, matrixUnit, rowUnit) {
  const flat = [];
  for (const name of ["q", ...SIDES]) {
    for (const end of stated[name]) {
      flat.push(end.map((value, item) => {
        const isNone = value === null && name !== "q";
        need(stated[name].every((other) => (other[item] === null) === isNone), "null at all ends, or at none");
        return isNone ? 0n : value;
      }));
    }
  }
  const [whole, unit] = integers(flat);
  const affine = {};
  let place = 0;
  for (const name of ["q", ...SIDES]) {
    const ends = stated[name].map(() => whole[place++]);
    affine[name] = Array.from({ length: items }, (_, item) => {
      if (name === "q" && item >= size) return ends.map(() => 0n);
      if (name !== "q" && stated[name][0][item] === null) return null;
      const isRow = item >= size;
      const ofValue = isRow ? rowUnit ** 2n : rowUnit;
      const ofMultiplier = isRow ? matrixUnit : rowUnit * matrixUnit;
      const factor = name === "lower" || name === "upper" ? ofValue : ofMultiplier;
      const values = ends.map((end) => end[item] * factor);
      if (name === "below" || name === "above") need(values.every((each) => each >= 0n), "a price is negative");
      return values.map((each, end) => (end ? each - values[0] : each));
    });
  }
  return [affine, unit];
}

const minus = (left, right) => left.map((each, i) => each - right[i]);
const times = (factor, affine) => affine && affine.map((each) => factor * each);
const equal = (left, right) => left !== null && right !== null && left.every((each, i) => each === right[i]);

// ---- Section 7, Letters ---------------------------------------------------------------------------------------------

/** What must not be negative where a letter holds. */
function askedBy(letter, v, y, lower, upper, below, above) {
  const zero = v.map(() => 0n);
  const asked = [];
  const notLess = (left, right) => {
    if (left !== null && right !== null) asked.push(minus(left, right));
  };
  const minusAbove = above && times(-1n, above);
  notLess(upper, lower);
  if (letter === "b") notLess(lower, v);
  if (letter === "a") notLess(v, upper);
  if (letter === "i") {
    notLess(v, lower);
    notLess(upper, v);
  }
  if (letter === "u") {
    notLess(zero, y);
    notLess(y, minusAbove);
  }
  if (letter === "l") {
    notLess(y, equal(lower, upper) ? minusAbove : zero);
    notLess(below, y);
    if (lower === null) {
      notLess(y, zero);
      notLess(zero, y);
    }
  }
  return asked;
}

// ---- Section 8, Segments --------------------------------------------------------------------------------------------

/** The equations that letters are, for a program in any number of parameters. */
class Letters {
  constructor(program) {
    const items = program.H.length;
    this.program = program;
    this.ends = program.affine.q.length ? program.affine.q[0].length : 2;
    this.letters = Array(items).fill("");
    this.known = Array(items).fill(null); // of each item what its letter says of u, or in the basis of w
    this.inBasis = Array(items).fill(false);
    this.load = Array.from({ length: this.ends }, () => Array(items).fill(0n)); // H times what is known of u
  }

  /** Read the letters of a segment or region, all of them or changes. */
  read(changes, first, where) {
    const items = this.letters.length;
    if (first) {
      need(typeof changes === "string" && changes.length === items, `${where}there must be ${items} letters`);
      changes = [...changes].map((letter, item) => [BigInt(item), letter]);
    }
    need(Array.isArray(changes), `${where}changes are a list`);
    const before = [...this.letters];
    for (const change of changes) {
      need(Array.isArray(change) && change.length === 2, `${where}a change is an item and a letter`);
      const [item, letter] = change;
      const known = typeof item === "bigint" && item >= 0n && item < BigInt(items);
      need(known && typeof letter === "string" && letter.length === 1 && "bliua".includes(letter), `${where}no letter`);
      this.letters[Number(item)] = letter;
    }
    this.letters.forEach((letter, item) => {
      if (letter !== before[item]) this.changeItem(item, where);
    });
  }

  /** Bring what is known, and the load, to the new letter of an item. */
  changeItem(item, where) {
    const { affine, H, variables } = this.program;
    const letter = this.letters[item];
    const [lower, upper, below, above] = SIDES.map((side) => affine[side][item]);
    const zero = Array(this.ends).fill(0n);
    let said = zero;
    if (letter === "l") said = lower ?? (upper === null ? zero : null);
    if (letter === "u") said = upper;
    if (letter === "b") said = lower && below;
    if (letter === "a") said = upper && above && times(-1n, above);
    need(said !== null, `${where}item ${item} has no bound or price for ${letter}`);
    const ofValue = letter === "l" || letter === "u";
    const isVariable = item < variables;
    if (!ofValue) said = isVariable ? minus(said, affine.q[item]) : times(-1n, said);
    const inBasis = ofValue !== isVariable;
    for (let end = 0; end < this.ends; end++) {
      const before = this.inBasis[item] || this.known[item] === null ? 0n : this.known[item][end];
      const step = (inBasis ? 0n : said[end]) - before;
      if (step) for (let i = 0; i < H.length; i++) this.load[end][i] += step * H[item][i];
    }
    this.known[item] = said;
    this.inBasis[item] = inBasis;
  }

  /** Values and multipliers of all items, times the determinant, which is positive, and that. */
  solve(where) {
    const { H, affine, variables } = this.program;
    const basis = this.inBasis.flatMap((inside, item) => (inside ? [item] : []));
    const right = basis.map((item) => this.load.map((load, end) => this.known[item][end] - load[item]));
    const matrix = basis.map((item) => basis.map((other) => H[item][other]));
    const [solved, determinant] = solveExactly(matrix, right, where);
    const u = this.known.map((known, item) => (this.inBasis[item] ? null : times(determinant, known)));
    basis.forEach((item, i) => (u[item] = solved[i]));
    const values = [];
    const multipliers = [];
    for (let item = 0; item < H.length; item++) {
      let w = this.inBasis[item] ? times(determinant, this.known[item]) : null;
      if (w === null) {
        w = this.load.map((load, end) => determinant * load[item] + sum(basis.map((b, i) => H[item][b] * solved[i][end])));
      }
      const isVariable = item < variables;
      values.push(isVariable ? u[item] : w);
      const q = affine.q[item];
      multipliers.push(isVariable ? w.map((each, end) => each + determinant * q[end]) : times(-1n, u[item]));
    }
    return [values, multipliers, determinant];
  }

  /** All that must not be negative, with the item that asks for it. */
  asked(where, solved = this.solve(where)) {
    const [values, multipliers, determinant] = solved;
    return this.letters.flatMap((letter, item) => {
      const sides = SIDES.map((side) => times(determinant, this.program.affine[side][item]));
      return askedBy(letter, values[item], multipliers[item], ...sides).map((asked) => [asked, item]);
    });
  }
}

/** The solution of equations in integers times the determinant, by elimination in which no division leaves a rest. */
function solveExactly(matrix, right, where) {
  const size = matrix.length;
  let rows = matrix.map((row, i) => [...row, ...right[i]]);
  let before = 1n;
  for (let k = 0; k < size; k++) {
    const found = rows.findIndex((row, i) => i >= k && row[k]);
    need(found >= 0, `${where}the letters leave open what the solution is`);
    [rows[k], rows[found]] = [rows[found], rows[k]];
    const top = rows[k];
    const pivot = top[k];
    rows = rows.map((row, i) => {
      if (i === k) return row;
      const factor = row[k];
      return row.map((entry, j) => (j < k && j !== i ? entry : (pivot * entry - factor * top[j]) / before));
    });
    before = pivot;
  }
  const sign = before < 0n ? -1n : 1n;
  return [rows.map((row) => row.slice(size).map((entry) => sign * entry)), sign * before];
}

/** Follow segments from t = 0; return where they end. */
function checkSegments(problem, segments, early, report) {
  const letters = new Letters(programOf(problem));
  need(Array.isArray(segments) && segments.length, "there are no segments");
  let t = [0n, 1n];
  segments.forEach((changes, number) => {
    const where = `segment ${number}, from t = ${asDouble(t)}: `;
    letters.read(changes, number === 0, where);
    let until = [1n, 1n];
    let failing = 0;
    for (const [[start, rate], item] of letters.asked(where)) {
      need(start * t[1] + rate * t[0] >= 0n, `${where}item ${item} violates what ${letters.letters[item]} asks`);
      if (rate < 0n && compare([start, -rate], until) < 0n) {
        until = fraction(start, -rate);
        failing = item;
      }
    }
    const goesOn = compare(t, until) < 0n || (early && segments.length === 1);
    need(goesOn, `${where}item ${failing} at once violates ${letters.letters[failing]}`);
    t = until;
    report((number + 1) / segments.length);
  });
  need(early || compare(t, [1n, 1n]) === 0n, `the segments cover t up to ${asDouble(t)} only`);
  return t;
}

// ---- Section 9, Ray -------------------------------------------------------------------------------------------------

/** The number that is proof that there is no minimum where it is negative, affine in the parameters. */
function lossOf(program, ray) {
  need(Array.isArray(ray) && ray.length === 2, "a ray is its kind and its numbers");
  const [kind, stated] = ray;
  const { H, affine, variables } = program;
  const [[numbers]] = integers([stated]);
  const lengths = { unbounded: variables, infeasible: H.length - variables, crossing: 1 };
  need(typeof kind === "string" && Object.hasOwn(lengths, kind), "no such ray");
  need(numbers.length === lengths[kind], `the ray has ${numbers.length} numbers, not ${lengths[kind]}`);
  const terms = [];
  if (kind === "unbounded") {
    const moves = H.map((row) => dot(row, numbers)); // (Pd, Ad)
    need(moves.slice(0, variables).every((move) => move === 0n), "the ray changes Px");
    numbers.forEach((step, item) => terms.push([affine.q[item], step]));
    [...numbers, ...moves.slice(variables)].forEach((step, item) => {
      const [bound, price] = step > 0n ? ["upper", "above"] : ["lower", "below"];
      if (step && affine[bound][item] !== null) terms.push([affine[price][item], abs(step)]);
    });
  } else {
    const weights = Array(H.length).fill(0n);
    if (kind === "infeasible") {
      for (let item = 0; item < variables; item++) weights[item] = -dot(H[item].slice(variables), numbers);
      numbers.forEach((each, row) => (weights[variables + row] = each));
      weights.forEach((weight, item) => pushHardBound(terms, affine, item, weight));
    } else {
      const [item] = stated;
      need(typeof item === "bigint" && item >= 0n && item < BigInt(H.length), "no such item");
      pushHardBound(terms, affine, Number(item), 1n);
      pushHardBound(terms, affine, Number(item), -1n);
    }
  }
  need(terms.every(([term]) => term !== null), "the ray needs a bound or price that there is not");
  const ends = affine.q.length ? affine.q[0].length : 2;
  return Array.from({ length: ends }, (_, end) => sum(terms.map(([term, factor]) => term[end] * factor)));
}

function pushHardBound(terms, affine, item, weight) {
  if (!weight) return;
  const [bound, price] = weight > 0n ? ["lower", "below"] : ["upper", "above"];
  need(affine[price][item] === null, "a bound of the ray is soft");
  terms.push([affine[bound][item], -weight]);
}

function checkRay(problem, t, ray) {
  const [start, rate] = lossOf(programOf(problem), ray);
  need(rate < 0n && start * t[1] + rate * t[0] <= 0n, "the ray proves nothing");
}

// ---- Section 10, Points ---------------------------------------------------------------------------------------------

/** Points of a bounded file, one after the other. */
class Points {
  constructor(program, stretch) {
    this.program = program;
    this.stretch = stretch;
    this.places = Array(program.variables).fill("l");
    this.load = [0, 1].map(() => Array(program.H.length).fill(0n)); // H times what of x is at bounds
    for (let item = 0; item < program.variables; item++) this.addToLoad(item, 1n);
  }

  bound(item) {
    const place = this.places[item];
    if (place === "l") return this.program.affine.lower[item];
    if (place === "u") return this.program.affine.upper[item];
    return [0n, 0n];
  }

  addToLoad(item, sign) {
    const bound = this.bound(item);
    need(bound !== null, `item ${item} has no such bound`);
    bound.forEach((each, end) => {
      if (each) this.program.H[item].forEach((entry, i) => (this.load[end][i] += sign * each * entry));
    });
  }

  put(changes) {
    const { units, variables } = this.program;
    need(Array.isArray(changes), "changes are a list");
    for (const change of changes) {
      need(Array.isArray(change) && change.length === 2, "a change is an item and a place");
      const [item, place] = change;
      need(typeof item === "bigint" && item >= 0n && item < BigInt(variables), "no such item");
      this.addToLoad(Number(item), -1n);
      const atBound = place === "l" || place === "u";
      this.places[Number(item)] = atBound ? place : multiply(numberOf(place), [units.number * units.row, 1n]);
      this.addToLoad(Number(item), 1n);
    }
  }

  /** Multipliers, slacks, x'Px and q'x at t, in integers with a scale. */
  at(t, rows, where) {
    const { H, affine, variables, units } = this.program;
    const inner = this.places.flatMap((place, item) => (Array.isArray(place) ? [[item, place]] : []));
    const scaledRows = rows.map((row) => multiply(row, [units.number * units.matrix, 1n]));
    let scale = t[1];
    for (const [, each] of [...inner.map(([, place]) => place), ...scaledRows]) scale *= each / gcd(scale, each);
    const whole = ([numerator, denominator]) => numerator * (scale / denominator);
    const time = whole(t);
    const here = (pair) => pair && scale * pair[0] + time * pair[1];
    const x = this.places.map((place, item) => (Array.isArray(place) ? whole(place) : here(this.bound(item))));
    const values = [...inner.map(([item]) => item)];
    const products = H.map((row, i) => {
      const ofBounds = scale * this.load[0][i] + time * this.load[1][i];
      return ofBounds + sum(values.map((item) => row[item] * x[item]));
    });
    const r = scaledRows.map(whole);
    const [numerator, denominator] = this.stretch;
    const q = affine.q.slice(0, variables).map(here);
    const y = q.map((cost, item) => {
      const own = products[item] + cost - dot(r, H[item].slice(variables));
      return denominator * own + numerator * products[item];
    });
    y.push(...r.map((each) => denominator * each));
    const v = [...x, ...products.slice(variables)];
    const multipliers = [];
    const slacks = [];
    for (const [side, sign] of [["lower", 1n], ["upper", -1n]]) {
      v.forEach((value, item) => {
        const bound = here(affine[side][item]);
        const slack = bound === null ? 0n : sign * (value - bound);
        const multiplier = sign * y[item] > 0n ? sign * y[item] : 0n;
        need(slack >= 0n, `${where}x leaves its bounds`);
        need(bound !== null || !multiplier, `${where}the dual value is not finite`);
        slacks.push(slack);
        multipliers.push(multiplier);
      });
    }
    return { scale, multipliers, slacks, quadratic: dot(x, products) };
  }
}

/** A bound on how far points are from the minimum, as a fraction. */
function checkPoints(problem, points, stretchValue, report) {
  const program = programOf(problem);
  const stretch = numberOf(stretchValue);
  const { affine, units, H, variables } = program;
  need([...affine.below, ...affine.above].every((price) => price === null), "bounds must be hard");
  need(stretch[0] >= 0n && Array.isArray(points) && points.length, "points, and a stretch that is not negative");
  const unit = units.matrix * (units.number * units.row) ** 2n;
  const reader = new Points(program, stretch);
  let [t, before, gap, bend] = [[0n, 1n], null, [0n, 1n], [0n, 1n]];
  points.forEach((point, number) => {
    const where = `at knot ${number}: `;
    need(Array.isArray(point) && point.length === 3 && Array.isArray(point[2]), `${where}a point is t, changes and r`);
    const next = numberOf(point[0]);
    need(compare(t, next) <= 0n && compare(next, [1n, 1n]) <= 0n && (number || next[0] === 0n), `${where}wrong t`);
    t = next;
    need(point[2].length === H.length - variables, `${where}wrong number of multipliers`);
    reader.put(point[1]);
    const here = reader.at(t, point[2].map(numberOf), where);
    const product = (one, other) => fraction(dot(one.multipliers, other.slacks), one.scale * other.scale);
    const coefficients = [product(here, here)];
    if (before) coefficients.push(multiply(add(product(before, here), product(here, before)), [1n, 2n]));
    for (const each of coefficients) gap = larger(gap, multiply(each, [1n, stretch[1] * unit]));
    const square = multiply(multiply(stretch, stretch), fraction(here.quadratic, 2n * unit * here.scale ** 2n));
    bend = larger(bend, square);
    before = here;
    report((number + 1) / points.length);
  });
  need(compare(t, [1n, 1n]) === 0n, `the knots cover t up to ${asDouble(t)} only`);
  const [numerator, denominator] = problem.has("lam") ? numberOf(problem.get("lam")) : [1n, 1n];
  return multiply(add(gap, bend), fraction(denominator, abs(numerator)));
}

// ---- Section 12, Cone programs --------------------------------------------------------------------------------------

const MOST_ROWS = 10000;
const MOST_ORDER = 200;
const MOST_ROOT = 64;
const MOST_BITS = 400;
const CONE_FIELDS = ["kind", "P", "A", "q", "b", "constant", "cones", "until"];

/** The largest denominator of the numbers in a value. */
function unitIn(value, depth = 0) {
  need(depth < 6, "lists are too deep");
  if (Array.isArray(value)) return value.reduce((unit, each) => {
    const own = unitIn(each, depth + 1);
    return own > unit ? own : unit;
  }, 1n);
  if (typeof value === "string" || value === null) return 1n;
  need(typeof value === "bigint" || value instanceof Double, "no number");
  const [numerator, denominator] = numberOf(value);
  need(abs(numerator) < denominator << BigInt(MOST_BITS) && denominator <= 1n << BigInt(MOST_BITS), "too many digits");
  return denominator;
}

function wholeIn(value, unit) {
  need(typeof value === "bigint" || value instanceof Double, "no number");
  const [numerator, denominator] = numberOf(value);
  return numerator * (unit / denominator);
}

function vectorIn(list, size, unit) {
  need(Array.isArray(list) && list.length === size, "a vector has the wrong length");
  return list.map((each) => wholeIn(each, unit));
}

/** Rows of entries {column, start, rate}. */
function sparseIn(rows, count, columns, unit) {
  need(Array.isArray(rows) && rows.length === count && rows.every(Array.isArray), "a matrix has the wrong shape");
  return rows.map((row) => {
    const seen = new Set();
    return row.map((entry) => {
      need(Array.isArray(entry) && (entry.length === 2 || entry.length === 3), "an entry is a column and its numbers");
      const column = Number(entry[0]);
      need(typeof entry[0] === "bigint" && entry[0] >= 0n && column < columns, "no such column");
      need(!seen.has(column), "two entries in one place");
      seen.add(column);
      const start = wholeIn(entry[1], unit);
      return { column, start, rate: entry.length === 3 ? wholeIn(entry[2], unit) - start : 0n };
    });
  });
}

function coneBlocks(cones, rows) {
  need(Array.isArray(cones), "no list of cones");
  let begin = 0;
  const blocks = cones.map((cone) => {
    need(Array.isArray(cone) && cone.length === 2 && typeof cone[0] === "string", "a cone is a kind and a number");
    const [kind, given] = cone;
    const block = { kind, begin, order: 3, power: null };
    let size = 3;
    if (kind === "power") {
      need(typeof given === "string" && /^[0-9]{1,2}\/[0-9]{1,2}$/.test(given), "a power is a text such as 1/3");
      const [p, q] = given.split("/").map(Number);
      need(p > 0 && p < q && q <= MOST_ROOT, "a power between 0 and 1");
      block.power = [BigInt(p), BigInt(q)];
    } else {
      need(["zero", "nonnegative", "second-order", "semidefinite", "exponential"].includes(kind), "no such cone");
      need(typeof given === "bigint" && given >= 1n && given <= BigInt(MOST_ROWS), "the order of a cone");
      block.order = size = Number(given);
      need(kind !== "exponential" || size === 3, "an exponential cone has 3 rows");
      need(kind !== "semidefinite" || size <= MOST_ORDER, "a semidefinite cone is too large");
      if (kind === "semidefinite") size = (size * (size + 1)) / 2;
    }
    begin += size;
    block.end = begin;
    return block;
  });
  need(begin === rows, "the cones do not have the rows of b");
  return blocks;
}

function coneLine(problem, unit) {
  const names = [...problem.keys()].filter((name) => name !== "about");
  need(names.length === CONE_FIELDS.length && CONE_FIELDS.every((name) => problem.has(name)), "wrong fields");
  need(problem.get("kind") === "cone program", "no such kind");
  need(!problem.has("about") || typeof problem.get("about") === "string", "about is a text");
  const [q, b] = ["q", "b"].map((name) => problem.get(name));
  need([q, b].every((each) => Array.isArray(each) && each.length === 2 && each.every(Array.isArray)), "q and b");
  const [columns, rows] = [q[0].length, b[0].length];
  need(columns >= 1 && columns <= MOST_ROWS && rows >= 1 && rows <= MOST_ROWS, "too many rows or columns, or none");
  const triangle = sparseIn(problem.get("P"), columns, columns, unit);
  const P = triangle.map((row) => [...row]);
  triangle.forEach((row, i) => row.forEach((entry) => {
    need(entry.column <= i, "P is a lower triangle");
    if (entry.column < i) P[entry.column].push({ ...entry, column: i });
  }));
  for (const end of [0n, 1n]) need(isSemidefinite(denseUsed(P, end)), "P is not proved positive semidefinite");
  const affineVector = (ends, size) => {
    const [first, last] = ends.map((end) => vectorIn(end, size, unit));
    return { start: first, rate: last.map((each, i) => each - first[i]) };
  };
  const constant = problem.get("constant");
  need(Array.isArray(constant) && constant.length === 2, "constant");
  const A = sparseIn(problem.get("A"), rows, columns, unit);
  const blocks = coneBlocks(problem.get("cones"), rows);
  const isEquation = Array(rows).fill(false);
  for (const block of blocks) if (block.kind === "zero") isEquation.fill(true, block.begin, block.end);
  const until = wholeIn(problem.get("until"), unit);
  need(until > 0n && until <= unit, "until is above 0, and 1 at most");
  return {
    unit, P, A, blocks, isEquation, until, columns, rows,
    q: affineVector(q, columns),
    b: affineVector(b, rows),
    constant: affineVector(constant.map((each) => [each]), 1),
    equations: isEquation.flatMap((is, row) => (is ? [row] : [])),
    moves: A.some((row) => row.some((entry) => entry.rate)),
  };
}

/** A matrix at t = 0 or 1 without the rows that have no entries. */
function denseUsed(P, end) {
  const used = P.flatMap((row, i) => (row.length ? [i] : []));
  const place = new Map(used.map((row, i) => [row, i]));
  return used.map((row) => {
    const dense = Array(used.length).fill(0n);
    for (const entry of P[row]) dense[place.get(entry.column)] = entry.start + end * entry.rate;
    return dense;
  });
}

// ---- Section 13, Inverses -------------------------------------------------------------------------------------------

function inversesOf(line, [ofB, ofC, ofScale]) {
  const { unit, columns, equations } = line;
  const B = sparseIn(ofB, columns + line.rows, columns, unit);
  const C = sparseIn(ofC, columns, equations.length, unit);
  for (const row of [...B, ...C]) need(row.every((entry) => !entry.rate), "an inverse does not move");
  const scale = vectorIn(ofScale, columns, unit);
  need(scale.every((each) => each > 0n), "a scale is above 0");
  const N = [...line.P, ...line.A];
  let [theta, ofEquations] = [[0n, 1n], [0n, 1n]];
  for (const end of [0n, 1n]) {
    const transposed = Array.from({ length: columns }, () => new Map());
    N.forEach((row, i) => row.forEach((entry) => addRow(transposed[entry.column], entry.start + end * entry.rate, B[i])));
    theta = larger(theta, offIdentity(transposed, scale, unit));
    const product = equations.map((row) => {
      const total = new Map();
      for (const entry of line.A[row]) addRow(total, entry.start + end * entry.rate, C[entry.column]);
      return total;
    });
    ofEquations = larger(ofEquations, offIdentity(product, equations.map(() => 1n), unit));
  }
  need(compare(theta, [1n, 1n]) < 0n, "B is no left inverse of P above A");
  need(compare(ofEquations, [1n, 1n]) < 0n, "C is no right inverse of the equations");
  const share = ([numerator, denominator]) => fraction(numerator, denominator - numerator);
  return { B, C, scale, more: share(theta), moreOfEquations: share(ofEquations) };
}

function addRow(total, factor, row) {
  for (const { column, start } of row) total.set(column, (total.get(column) ?? 0n) + factor * start);
}

/** theta of a matrix in 1 / unit^2, by rows, in a scale. */
function offIdentity(rows, scale, unit) {
  let largest = [0n, 1n];
  rows.forEach((row, i) => {
    let total = abs((row.get(i) ?? 0n) - unit ** 2n) * scale[i];
    for (const [column, entry] of row) if (column !== i) total += abs(entry) * scale[column];
    largest = larger(largest, fraction(total, scale[i] * unit ** 2n));
  });
  return largest;
}

/** Bounds of a correction in 1 / unit, rounded up; `missed` is twice as large as what is missed, in 1 / unit^3. */
function correction(matrix, missed, scale, more, unit) {
  let largest = [0n, 1n];
  missed.forEach((each, i) => (largest = larger(largest, [each, scale[i]])));
  const [numerator, denominator] = multiply(more, largest);
  const sizes = missed.map((each, i) => each + ceilingQuotient(numerator * scale[i], denominator));
  return matrix.map((row) => {
    const total = sum(row.map(({ column, start }) => abs(start) * sizes[column]));
    return ceilingQuotient(total, 2n * unit ** 3n);
  });
}

// ---- Section 14, Cones ----------------------------------------------------------------------------------------------

const KEPT = 192n;
const ROOT_BITS = 256n;
const MOST_EXPONENT = 2000n;

function isInside(block, values, radius, dual) {
  if (block.kind === "zero") return dual || [...values, ...radius].every((each) => each === 0n);
  if (block.kind === "nonnegative") return values.every((value, i) => value >= radius[i]);
  if (block.kind === "second-order") {
    const least = values[0] - radius[0];
    const others = values.slice(1).map((value, i) => (abs(value) + radius[i + 1]) ** 2n);
    return least >= 0n && least ** 2n >= sum(others);
  }
  if (block.kind === "semidefinite") return isInsideSemidefinite(block.order, values, radius);
  if (block.kind === "power") return isInsidePower(block.power, values, radius, dual);
  return [1n, -1n].every((sign) => {
    if (dual) return inDualExponential(values[0] + sign * radius[0], values[1] - radius[1], values[2] - radius[2]);
    return inExponential(values[0] + radius[0], values[1] + sign * radius[1], values[2] - radius[2]);
  });
}

function isInsideSemidefinite(order, values, radius) {
  const scale = 1n << ROOT_BITS;
  const root = squareRoot((scale * scale) / 2n); // of 1/2
  const matrix = Array.from({ length: order }, () => Array(order).fill(0n));
  const change = Array(order).fill(0n);
  let place = 0;
  for (let column = 0; column < order; column++) {
    for (let row = 0; row <= column; row++) {
      const [value, reach] = [values[place], radius[place]];
      place++;
      if (row === column) {
        matrix[row][row] = value * scale;
        change[row] += reach * scale;
      } else {
        matrix[row][column] = matrix[column][row] = value * root;
        for (const each of [row, column]) change[each] += abs(value) + reach * (root + 1n);
      }
    }
  }
  const largest = maximum(change);
  for (let row = 0; row < order; row++) matrix[row][row] -= largest;
  return isSemidefinite(matrix);
}

function isInsidePower([p, q], values, radius, dual) {
  let [x, y] = [values[0] - radius[0], values[1] - radius[1]];
  let z = abs(values[2]) + radius[2];
  if (x < 0n || y < 0n) return false;
  if (dual) [x, y, z] = [x * q * (q - p), y * q * p, z * p * (q - p)];
  return x ** p * y ** (q - p) >= z ** q;
}

function inExponential(x, y, z) {
  if (y === 0n) return x <= 0n && z >= 0n;
  return y > 0n && z > 0n && exponentialAtMost(fraction(x, y), fraction(z, y));
}

function inDualExponential(u, v, w) {
  if (u === 0n) return v >= 0n && w >= 0n;
  return u < 0n && w > 0n && exponentialAtMost(fraction(v - u, u), fraction(w, -u));
}

/** Whether e^r <= limit is proved. */
function exponentialAtMost(r, limit) {
  if (compare(r, [MOST_EXPONENT, 1n]) > 0n) return false;
  const [numerator, denominator] = larger(r, [-MOST_EXPONENT, 1n]);
  let halvings = 0n;
  while (2n * abs(numerator) > denominator << halvings) halvings++;
  const scale = 1n << KEPT;
  const small = ceilingQuotient(numerator * scale, denominator << halvings);
  let [total, term, size, count] = [scale, scale, scale, 0n];
  while (size) {
    count++;
    term = ceilingQuotient(term * small, scale * count);
    size = size > 1n ? ceilingQuotient(size * abs(small), scale * count) : 0n;
    total += term;
  }
  let mantissa = total + 2n * count + 2n; // each term is off by 2 at most, and what is left of the series by 2
  let exponent = KEPT;
  for (let i = 0n; i < halvings; i++) {
    mantissa **= 2n;
    exponent *= 2n;
    const spare = BigInt(Math.max(0, bitLength(mantissa) - Number(KEPT)));
    mantissa = ceilingQuotient(mantissa, 1n << spare);
    exponent -= spare;
  }
  const bound = exponent < 0n ? [mantissa << -exponent, 1n] : [mantissa, 1n << exponent];
  return compare(bound, limit) <= 0n;
}

// ---- Sections 15 and 16, Pairs and pieces ---------------------------------------------------------------------------

const MOST_POINTS = 100000;
const HALVED = 4;

const product = (matrix, vector) => ({
  start: matrix.map((row) => sum(row.map((entry) => entry.start * vector[entry.column]))),
  rate: matrix.map((row) => sum(row.map((entry) => (entry.rate ? entry.rate * vector[entry.column] : 0n)))),
});

function transposedProduct(matrix, vector, columns) {
  const [start, rate] = [Array(columns).fill(0n), Array(columns).fill(0n)];
  matrix.forEach((row, i) => row.forEach((entry) => {
    start[entry.column] += entry.start * vector[i];
    rate[entry.column] += entry.rate * vector[i];
  }));
  return { start, rate };
}

const plus = (left, right) => left.map((each, i) => each + right[i]);
const affineAt = (affine, t, unit) => affine.start.map((each, i) => unit * each + t * affine.rate[i]);
const largestOf = (vectors) => vectors[0].map((_, i) => maximum(vectors.map((vector) => abs(vector[i]))));
const absoluteProduct = (matrix, vector) => matrix.map((row) => sum(row.map((entry) => {
  const size = maximum([abs(entry.start), abs(entry.start + entry.rate)]);
  return size * vector[entry.column];
})));

function pairOf(line, point, where) {
  need(Array.isArray(point) && point.length === 4, `${where}a point is t, x, y and z`);
  const { unit, columns, rows, P, A } = line;
  const t = wholeIn(point[0], unit);
  const x = vectorIn(point[1], columns, unit);
  const y = point[2] === null ? x : vectorIn(point[2], columns, unit);
  const z = vectorIn(point[3], rows, unit);
  const apart = x.map((each, i) => each - y[i]);
  const [Py, back] = [product(P, y), transposedProduct(A, z, columns)];
  const stationary = { start: plus(Py.start, back.start), rate: plus(Py.rate, back.rate) };
  return { t, x, z, apart, stationary, Ax: product(A, x), Px: product(P, x), Papart: product(P, apart) };
}

/** Twice a Bernstein coefficient of s, or of r, between two pairs; of a pair with itself twice its own. */
function twiceSlack(line, one, other) {
  const own = (data, point) => {
    const sides = affineAt(line.b, data.t, line.unit);
    const values = affineAt(point.Ax, data.t, line.unit);
    return sides.map((side, i) => line.unit * side - values[i]);
  };
  return plus(own(one, other), own(other, one));
}

function twiceResidual(line, one, other) {
  const own = (data, point) => {
    const costs = affineAt(line.q, data.t, line.unit);
    const values = affineAt(point.stationary, data.t, line.unit);
    return costs.map((cost, i) => line.unit * cost + values[i]);
  };
  return plus(own(one, other), own(other, one));
}

function radiiOf(line, inverses, first, last) {
  const three = (twice) => [twice(line, first, first), twice(line, first, last), twice(line, last, last)];
  const slacks = three(twiceSlack);
  const missedRows = line.equations.map((row) => maximum(slacks.map((slack) => abs(slack[row]))));
  const missed = largestOf(three(twiceResidual));
  const ones = missedRows.map(() => 1n);
  const x = correction(inverses.C, missedRows, ones, inverses.moreOfEquations, line.unit);
  const both = correction(inverses.B, missed, inverses.scale, inverses.more, line.unit);
  const slack = absoluteProduct(line.A, x).map((each, row) => {
    return line.isEquation[row] ? 0n : ceilingQuotient(each, line.unit);
  });
  return { x, slack, y: both.slice(0, line.columns), z: both.slice(line.columns), slacks };
}

function needInside(line, values, radius, dual, text) {
  for (const block of line.blocks) {
    if (block.kind === "zero") continue;
    const inside = isInside(block, values.slice(block.begin, block.end), radius.slice(block.begin, block.end), dual);
    need(inside, `${text} the ${block.kind} cone of rows ${block.begin} to ${block.end - 1}`);
  }
}

/** An upper bound of a cubic polynomial on [0, 1] from its Bernstein coefficients. */
function most(coefficients) {
  let parts = [coefficients];
  for (let i = 0; i < HALVED; i++) parts = parts.flatMap(halvesOf);
  return parts.flat().reduce(larger);
}

function halvesOf(coefficients) {
  const [left, right] = [[], []];
  let row = coefficients;
  while (row.length) {
    left.push(row[0]);
    right.unshift(row[row.length - 1]);
    row = row.slice(1).map((each, i) => multiply(add(row[i], each), [1n, 2n]));
  }
  return [left, right];
}

function cubicOf(line, first, last, vector, products) {
  const pairs = [first, last];
  const value = (i, j, end) => dot(pairs[i][vector], affineAt(pairs[j][products], pairs[end].t, line.unit));
  const four = [
    3n * value(0, 0, 0),
    value(0, 0, 1) + 2n * value(0, 1, 0),
    value(1, 1, 0) + 2n * value(0, 1, 1),
    3n * value(1, 1, 1),
  ];
  return four.map((each) => fraction(each, 6n * line.unit ** 4n));
}

function pieceOf(line, first, last, radii) {
  const { unit } = line;
  const others = (vector) => vector.filter((_, row) => !line.isEquation[row]);
  const [begin, middle, end] = radii.slacks.map(others);
  const [z, Z] = [first.z, last.z].map(others);
  const products = [
    3n * dot(z, begin),
    dot(Z, begin) + 2n * dot(z, middle),
    dot(z, end) + 2n * dot(Z, middle),
    3n * dot(Z, end),
  ].map((each) => fraction(each, 6n * unit ** 4n));
  const energy = cubicOf(line, first, last, "apart", "Papart");
  const gap = most(products.map((each, i) => add(each, energy[i])));
  const [more, moved] = additions(line, first, last, radii);
  const width = add(add(gap, more), moved);
  const objective = objectiveOf(line, first, last);
  const low = most(objective.map(([numerator, denominator]) => [-numerator, denominator]));
  const high = add(most(objective), moved);
  return { low: add([-low[0], low[1]], [-width[0], width[1]]), high, width };
}

function objectiveOf(line, first, last) {
  const { unit } = line;
  const costs = [first, last].map((pair) => affineAt(line.q, pair.t, unit));
  const own = [dot(costs[0], first.x), dot(costs[1], last.x)];
  const across = dot(costs[0], last.x) + dot(costs[1], first.x);
  const linear = [3n * own[0], own[0] + across, own[1] + across, 3n * own[1]];
  const [begin, end] = [first, last].map((pair) => affineAt(line.constant, pair.t, unit)[0]);
  const constant = [3n * begin, 2n * begin + end, begin + 2n * end, 3n * end];
  return cubicOf(line, first, last, "x", "Px").map((half, i) => {
    return add(add(half, fraction(linear[i], 3n * unit ** 3n)), fraction(constant[i], 3n * unit ** 2n));
  });
}

/** How much the corrections can add to the gap, and how far they move f. */
function additions(line, first, last, radii) {
  const { unit } = line;
  const sizes = largestOf(radii.slacks);
  const multipliers = largestOf([first.z, last.z]);
  let ofSlacks = 0n; // in 1 / (2 unit^4)
  for (let row = 0; row < line.rows; row++) {
    if (line.isEquation[row]) continue;
    ofSlacks += radii.z[row] * sizes[row] + 2n * unit ** 2n * (multipliers[row] + radii.z[row]) * radii.slack[row];
  }
  const both = plus(radii.x, radii.y);
  const apart = largestOf([first.apart, last.apart]);
  const energy = 2n * dot(both, absoluteProduct(line.P, apart)) + dot(both, absoluteProduct(line.P, both));
  const slopes = absoluteProduct(line.P, largestOf([first.x, last.x]));
  const costs = largestOf([first, last].map((pair) => affineAt(line.q, pair.t, unit)));
  const moved = 2n * dot(radii.x, plus(slopes, costs)) + dot(radii.x, absoluteProduct(line.P, radii.x));
  const more = add(fraction(ofSlacks, 2n * unit ** 4n), fraction(energy, 2n * unit ** 3n));
  return [more, fraction(moved, 2n * unit ** 3n)];
}

/** What is proved of each piece of a band, and until when. */
function checkBand(content, report) {
  const problem = content.get("problem");
  const points = content.get("points");
  need(Array.isArray(points) && points.length >= 2 && points.length <= MOST_POINTS, "two points or more");
  const parts = ["B", "C", "scale", "points"].map((name) => content.get(name));
  let unit = 1n;
  for (const part of [...problem.values(), ...parts]) {
    const own = unitIn(part);
    if (own > unit) unit = own;
  }
  const line = coneLine(problem, unit);
  const inverses = inversesOf(line, parts);
  const pairs = points.map((point, i) => pairOf(line, point, `point ${i}: `));
  const lastPair = pairs[pairs.length - 1];
  need(pairs[0].t === 0n && lastPair.t === line.until, "the points begin at t = 0 and end at `until`");
  const radii = pairs.slice(1).map((last, i) => {
    need(pairs[i].t < last.t, `point ${i + 1}: t must increase`);
    return radiiOf(line, inverses, pairs[i], last);
  });
  pairs.forEach((pair, i) => {
    const beside = radii.slice(Math.max(0, i - 1), i + 1);
    const ofSlack = largestOf(beside.map((each) => each.slack)).map((each) => 2n * unit ** 2n * each);
    const slack = twiceSlack(line, pair, pair);
    needInside(line, slack, ofSlack, false, `point ${i}: b - Ax leaves`);
    needInside(line, pair.z, largestOf(beside.map((each) => each.z)), true, `point ${i}: z leaves the dual of`);
    report((i + 1) / pairs.length);
  });
  const pieces = radii.map((each, i) => {
    if (line.moves) {
      const radius = each.slack.map((reach) => 2n * unit ** 2n * reach);
      needInside(line, each.slacks[1], radius, false, `behind point ${i}: the middle coefficient of b - Ax leaves`);
    }
    return pieceOf(line, pairs[i], pairs[i + 1], each);
  });
  return { pieces, until: fraction(line.until, unit) };
}

// ---- Sections 17 to 20, Maps ----------------------------------------------------------------------------------------

const SQUARE = [[1n, 0n, 0n], [1n, 1n, 0n], [1n, 1n, 1n], [1n, 0n, 1n]];

function primitive(numbers) {
  const divisor = numbers.reduce(gcd);
  return numbers.map((each) => each / divisor);
}

const samePoint = (one, other) => one.every((each, i) => each === other[i]);

/** The part of a polygon on which something affine is not negative; corners are (w, x, y) for (x / w, y / w). */
function cutPolygon(corners, affine) {
  const heights = corners.map((corner) => dot(affine, corner));
  if (heights.every((height) => height >= 0n)) return corners;
  const kept = [];
  corners.forEach((corner, i) => {
    const before = (i + corners.length - 1) % corners.length;
    const [down, up] = [heights[before], heights[i]];
    if ((down < 0n && up > 0n) || (down > 0n && up < 0n)) {
      kept.push(primitive(corner.map((each, k) => abs(down) * each + abs(up) * corners[before][k])));
    }
    if (up >= 0n) kept.push(corner);
  });
  const distinct = kept.filter((corner, i) => !samePoint(corner, kept[(i + kept.length - 1) % kept.length]));
  return distinct.length > 2 ? distinct : [];
}

/** What directed sides add up to on each line, place by place; all must be 0. */
function sidesCancel(polygons, domain) {
  const totals = new Map();
  const addSide = (first, last, sign) => {
    const [w, x, y] = first;
    const [W, X, Y] = last;
    let line = primitive([x * Y - y * X, y * W - w * Y, w * X - x * W]);
    if ((line[2] || line[1]) < 0n) line = line.map((each) => -each);
    for (const [corner, step] of [[first, sign], [last, -sign]]) {
      const place = fraction(line[2] ? corner[1] : corner[2], corner[0]);
      const key = [...line, ...place].join(" ");
      totals.set(key, (totals.get(key) ?? 0) + step);
    }
  };
  const addPolygon = (corners, sign) => corners.forEach((corner, i) => {
    addSide(corner, corners[(i + 1) % corners.length], sign);
  });
  polygons.forEach((corners) => addPolygon(corners, 1));
  addPolygon(domain, -1);
  return [...totals.values()].every((total) => total === 0);
}

function checkMap(problem, regions, outside, report) {
  need(["program", "2C-SVM"].includes(problem.get("kind")), "a map is of a program or of a 2C-SVM");
  need(Array.isArray(regions) && regions.length && Array.isArray(outside), "no regions");
  for (const name of ["X", "K", "A", "y"]) need((problem.get(name)?.length ?? 0) <= 5000, "too many items");
  const program = programOf(problem, 3);
  let domain = SQUARE;
  for (const ray of outside) domain = cutPolygon(domain, lossOf(program, ray));
  const letters = new Letters(program);
  const polygons = [];
  regions.forEach((changes, number) => {
    const where = `region ${number}: `;
    letters.read(changes, number === 0, where);
    let corners = SQUARE;
    for (const [asked] of letters.asked(where)) corners = cutPolygon(corners, asked);
    if (corners.length) polygons.push(corners);
    report((number + 1) / regions.length);
  });
  need(polygons.length, "no region has an area");
  need(sidesCancel(polygons, domain), "the regions do not cover what rays leave of the square, once");
  return { count: polygons.length, domain };
}

// ---- Sections 21 to 24, Ranges --------------------------------------------------------------------------------------

const POINT_FIELDS = ["q", ...SIDES];
const RANGES_FIELDS = ["moves", "constant", "sign", "names"];

/** The problem at its point, as a program along a line on which nothing moves, and what its movements are. */
class Standing {
  constructor(problem) {
    need(problem.get("kind") === "program", "ranges are of a program");
    for (const name of ["K", "A"]) need((problem.get(name)?.length ?? 0) <= 5000, "too many items");
    const still = new Map([...problem].filter(([name]) => !RANGES_FIELDS.includes(name)));
    for (const name of POINT_FIELDS) {
      const list = problem.get(name);
      need(Array.isArray(list) && list.length === 1, `${name} has one list`);
      still.set(name, [list[0], list[0]]);
    }
    this.program = programOf(still);
    const items = this.program.H.length;
    const moves = problem.get("moves");
    need(Array.isArray(moves) && moves.length && moves.length <= 100000, "movements, one at least");
    this.sign = problem.has("sign") ? problem.get("sign") : 1n;
    need(this.sign === 1n || this.sign === -1n, "sign is 1 or -1");
    this.constant = problem.has("constant") ? numberOf(problem.get("constant")) : [0n, 1n];
    const names = problem.has("names") ? problem.get("names") : Array(items).fill("");
    const isNamed = Array.isArray(names) && names.length === items && names.every((name) => typeof name === "string");
    need(isNamed, "names are texts, one an item");
    this.moves = moves.map((move) => this.movementOf(move));
  }

  movementOf(move) {
    need(Array.isArray(move) && move.length === 2 && typeof move[0] === "string", "a movement is a name and entries");
    const [name, stated] = move;
    need(Array.isArray(stated), "entries are a list");
    const { variables, H, affine } = this.program;
    const seen = new Set();
    const entries = stated.map((entry) => {
      need(Array.isArray(entry) && entry.length === 3, "an entry is a field, an item and a rate");
      const [field, item, rate] = entry;
      const counts = { q: variables, lower: H.length, upper: H.length, constant: 1 };
      need(typeof field === "string" && Object.hasOwn(counts, field), "no such field moves");
      need(typeof item === "bigint" && item >= 0n && item < BigInt(counts[field]), "no such item");
      need(!seen.has(`${field} ${item}`), "a number moves twice");
      seen.add(`${field} ${item}`);
      need(field === "constant" || affine[field][Number(item)] !== null, "a bound that there is not moves");
      return { field, item: Number(item), rate: numberOf(rate) };
    });
    return { name, entries };
  }

  /** The program along a movement, in a unit that its rates have, too; and the rate of the constant. */
  along(entries, direction) {
    const { variables, units } = this.program;
    let factor = 1n;
    for (const { rate } of entries) if ((units.number * factor) % rate[1]) factor *= rate[1];
    const number = units.number * factor;
    const affine = {};
    for (const name of POINT_FIELDS) affine[name] = this.program.affine[name].map((pair) => times(factor, pair));
    let constant = [0n, 1n];
    for (const { field, item, rate } of entries) {
      if (field === "constant") {
        constant = [direction * rate[0], rate[1]];
        continue;
      }
      const ofItem = field === "q" ? units.matrix : item < variables ? 1n : units.row;
      const step = (direction * rate[0] * number * units.row * ofItem) / rate[1];
      affine[field][item] = [affine[field][item][0], step];
    }
    return { program: { ...this.program, affine, units: { ...units, number } }, constant };
  }
}

/** Twice the minimum of what letters say, as a polynomial: three coefficients. */
function minimumOf(letters, values, multipliers, determinant) {
  const { affine, units } = letters.program;
  const twice = [0n, 0n, 0n];
  letters.letters.forEach((letter, item) => {
    const side = letter === "b" || letter === "l" ? "lower" : "upper";
    const bound = times(determinant, affine[side][item] ?? [0n, 0n]);
    const q = times(determinant, affine.q[item]);
    const rest = bound.map((each, i) => 2n * each - values[item][i]);
    for (const [[a, b], [c, d]] of [[q, values[item]], [multipliers[item], rest]]) {
      twice[0] += a * c;
      twice[1] += a * d + b * c;
      twice[2] += b * d;
    }
  });
  const unit = 2n * units.matrix * (units.number * units.row * determinant) ** 2n;
  return twice.map((each) => fraction(each, unit));
}

/** What the next letters prove from s on; they hold there, and on a length. */
function segmentFrom(letters, changes, s, where) {
  letters.read(changes, false, where);
  const solved = letters.solve(where);
  let until = null;
  for (const [[start, rate], item] of letters.asked(where, solved)) {
    need(start * s[1] + rate * s[0] >= 0n, `${where}item ${item} violates what ${letters.letters[item]} asks`);
    if (rate < 0n && (until === null || compare([start, -rate], until) < 0n)) until = fraction(start, -rate);
  }
  need(until === null || compare(s, until) < 0n, `${where}the letters hold on no length`);
  return { until, minimum: minimumOf(letters, ...solved) };
}

const samePolynomial = (one, other) => one.every((each, i) => compare(each, other[i]) === 0n);

/** What is proved of one side of a point. */
function checkSide(standing, text, entries, direction, side, where) {
  const fields = side instanceof Map ? [...side.keys()].sort().join(" ") : "";
  need(["segments", "next segments", "ray segments"].includes(fields), `${where}segments, and next or a ray at most`);
  const stated = side.get("segments");
  need(Array.isArray(stated), `${where}segments are a list`);
  const { program, constant } = standing.along(entries, direction);
  const letters = new Letters(program);
  letters.read(text, true, where);
  let until = [0n, 1n];
  let first = null;
  let last = null;
  stated.forEach((changes, number) => {
    need(until !== null, `${where}a segment before the last has no end`);
    last = segmentFrom(letters, changes, until, `${where}segment ${number}: `);
    first ??= last;
    need(samePolynomial(first.minimum, last.minimum), `${where}the minimum bends before the last segment`);
    until = last.until;
  });
  if (side.has("ray")) {
    need(until !== null, `${where}a ray is for what is beyond an end`);
    const [start, rate] = lossOf(program, side.get("ray"));
    need(rate < 0n && start * until[1] + rate * until[0] <= 0n, `${where}the ray proves nothing`);
  } else if (side.has("next")) {
    need(last !== null && until !== null, `${where}what comes next is for what is beyond an end`);
    const next = segmentFrom(letters, side.get("next"), until, `${where}next: `);
    need(!samePolynomial(next.minimum, last.minimum), `${where}the minimum does not bend at the end`);
  } else {
    need(last !== null && until === null, `${where}the last segment has an end`);
  }
  if (!first) return { price: null, until };
  const price = add(first.minimum[1], constant);
  return { price: [standing.sign * direction * price[0], price[1]], until };
}

/** The value at the point, and of each movement both sides. */
function checkRanges(problem, text, sides, report) {
  const standing = new Standing(problem);
  const { moves } = standing;
  need(Array.isArray(sides) && sides.length === moves.length, "each movement has two sides");
  const letters = new Letters(standing.program);
  letters.read(text, true, "at the point: ");
  const solved = letters.solve("at the point: ");
  for (const [[start], item] of letters.asked("at the point: ", solved)) {
    need(start >= 0n, `at the point: item ${item} violates what ${letters.letters[item]} asks`);
  }
  const [lowest] = minimumOf(letters, ...solved);
  const found = moves.map(({ name, entries }, number) => {
    const both = sides[number];
    need(Array.isArray(both) && both.length === 2, `movement ${number} has two sides`);
    const proved = both.map((side, above) => {
      const where = `movement ${number}, ${above ? "above" : "below"}: `;
      return side === null ? null : checkSide(standing, text, entries, above ? 1n : -1n, side, where);
    });
    report((number + 1) / moves.length);
    return { name, proved };
  });
  const value = add(lowest, standing.constant);
  return { value: multiply(value, [standing.sign, 1n]), found };
}

function rangesInWords({ value, found }) {
  const sideInWords = (side) => {
    if (side === null) return "nothing is said";
    if (side.price === null) return "there is no minimum at once";
    return `price ${asDouble(side.price)}${side.until === null ? ", without end" : `, for ${asDouble(side.until)}`}`;
  };
  const lines = found.map(({ name, proved: [below, above] }) => {
    return `${quoted(name)}: below: ${sideInWords(below)}; above: ${sideInWords(above)}`;
  });
  return `V, sign times the minimum of ${WORDS.program} + constant, is ${asDouble(value)} where the data of the\n` +
    `file stand. Along each movement it is one polynomial for so many units, whose derivative at the point is the\n` +
    `price:\n${lines.join("\n")}`;
}

// ---- Sections 25 to 27, Curves --------------------------------------------------------------------------------------
//
// A polynomial is a list of c_i, the sum of c_i u^i (1 - u)^(d - i): Bernstein coefficients times C(d, i).

const MOST_PIECES = 10000;
const MOST_COEFFICIENTS = 31;
const MOST_HALVINGS = 7;

const BINOMIALS = [[1n]];

function binomials(degree) {
  while (BINOMIALS.length <= degree) {
    const row = BINOMIALS[BINOMIALS.length - 1];
    BINOMIALS.push([...row, 0n].map((each, i) => each + (i ? row[i - 1] : 0n)));
  }
  return BINOMIALS[degree];
}

const flat = (value, length) => binomials(length - 1).map((each) => value * each);
const scaled = (factor, p) => p.map((each) => factor * each);

function polynomialProduct(p, q) {
  const result = Array(p.length + q.length - 1).fill(0n);
  p.forEach((one, i) => {
    if (one) q.forEach((other, j) => (result[i + j] += one * other));
  });
  return result;
}

const lift = (p, length) => (p.length < length ? polynomialProduct(p, flat(1n, length - p.length + 1)) : p);

function sumOf(p, q, sign = 1n) {
  const length = Math.max(p.length, q.length);
  const other = lift(q, length);
  return lift(p, length).map((each, i) => each + sign * other[i]);
}

const dotOf = (left, right) => left.map((p, i) => polynomialProduct(p, right[i])).reduce((total, p) => sumOf(total, p), [0n]);
const sizeOf = (p) => maximum(p.map((each, i) => ceilingQuotient(abs(each), binomials(p.length - 1)[i])));
const slopeOf = (p) => p.slice(1).map((each, i) => BigInt(i + 1) * each - BigInt(p.length - 1 - i) * p[i]);
const isNonnegative = (p) => p.every((each) => each >= 0n);

function leastOf(p) { // rounded down
  const all = p.map((each, i) => floorQuotient(each, binomials(p.length - 1)[i]));
  return all.reduce((least, each) => (each < least ? each : least));
}

/** Both halves, 2^d times as large: means of neighbours, of the Bernstein coefficients times a common denominator. */
function bothHalves(p) {
  const row = binomials(p.length - 1);
  const common = row.reduce((total, each) => (total * each) / gcd(total, each), 1n);
  let means = p.map((each, i) => (each * common) / row[i]);
  const [left, right] = [[], []];
  for (let k = 0; means.length; k++) {
    const factor = 1n << BigInt(p.length - 1 - k); // each mean is left twice as large
    left.push(means[0] * factor);
    right.unshift(means[means.length - 1] * factor);
    means = means.slice(1).map((each, i) => means[i] + each);
  }
  return [left, right].map((half) => half.map((each, i) => (each * row[i]) / common));
}

function polynomialsIn(lists, size, unit) {
  const fits = Array.isArray(lists) && lists.length >= 2 && lists.length <= MOST_COEFFICIENTS;
  need(fits, "a polynomial has 2 to 31 coefficients");
  const rows = lists.map((list) => vectorIn(list, size, unit));
  const weights = binomials(lists.length - 1);
  return Array.from({ length: size }, (_, entry) => rows.map((row, i) => weights[i] * row[entry]));
}

/** The problem from one t to another, affine in u, in 1 / (unit * grid); both t in 1 / grid. */
function lineOn(line, first, last, grid) {
  const moved = ({ start, rate }) => ({ start: grid * start + first * rate, rate: (last - first) * rate });
  const matrix = (rows) => rows.map((row) => row.map((entry) => ({ column: entry.column, ...moved(entry) })));
  const vector = ({ start, rate }) => {
    const entries = start.map((each, i) => moved({ start: each, rate: rate[i] }));
    return { start: entries.map((each) => each.start), rate: entries.map((each) => each.rate) };
  };
  const [P, A] = [line.P, line.A].map(matrix);
  const [q, b, constant] = [line.q, line.b, line.constant].map(vector);
  return { ...line, unit: line.unit * grid, P, A, q, b, constant };
}

function frameIn(stated, order) {
  if (stated === null) return null;
  need(Array.isArray(stated) && stated.length === 2, "a frame is J and V");
  const [core, mixture] = stated;
  need(Array.isArray(core) && core.length > 0 && core.length < order, "J has some rows, and not all");
  need(core.every((row) => typeof row === "bigint" && row >= 0n && row < order), "J has no such row");
  const rows = core.map(Number);
  need(new Set(rows).size === rows.length, "J has a row twice");
  const others = Array.from({ length: order }, (_, row) => row).filter((row) => !rows.includes(row));
  const fits = (matrix) => Array.isArray(matrix) && matrix.length === rows.length;
  need(Array.isArray(mixture) && mixture.every(fits), "V has the rows of J");
  const unit = unitIn(mixture);
  const V = rows.map((_, i) => polynomialsIn(mixture.map((matrix) => matrix[i]), others.length, unit));
  return { rows, others, V, unit };
}

/** Products of a matrix that is affine in u: in rows, or with `columns` of the transposed one in columns. */
function movingProduct(matrix, vector, columns = null) {
  const length = vector[0].length + 1;
  const zeros = () => Array(length).fill(0n);
  const result = Array.from({ length: columns ?? matrix.length }, zeros);
  matrix.forEach((row, i) => row.forEach(({ column, start, rate }) => {
    const [from, to] = columns === null ? [column, i] : [i, column];
    vector[from].forEach((each, k) => {
      result[to][k] += start * each;
      result[to][k + 1] += (start + rate) * each;
    });
  }));
  return result;
}

const affineOnes = ({ start, rate }, factor = 1n) => start.map((each, i) => [factor * each, factor * (each + rate[i])]);

// A part is { vector, radius, frame } where all may be multiplied by a number above 0.

function isInsideOnParts(block, vector, radius, dual, frame) {
  let parts = [{ vector, radius, frame }];
  for (let halved = 0; halved <= MOST_HALVINGS; halved++) {
    const open = parts.filter((part) => !isInsideByCoefficients(block, part, dual));
    if (!open.length) return true;
    parts = open.flatMap(halvesOfPart);
    const fine = parts.every((part) => [0, -1].every((end) => {
      return isInside(block, part.vector.map((p) => p.at(end)), part.radius, dual);
    }));
    if (!fine) return false;
  }
  return false;
}

function halvesOfPart({ vector, radius, frame }) {
  const wider = radius.map((each) => each << BigInt(vector[0].length - 1));
  const entries = vector.map(bothHalves);
  const mixtures = frame && frame.V.map((row) => row.map(bothHalves));
  return [0, 1].map((side) => ({
    vector: entries.map((halves) => halves[side]),
    radius: wider,
    frame: frame && {
      ...frame,
      V: mixtures.map((row) => row.map((halves) => halves[side])),
      unit: frame.unit << BigInt(frame.V[0][0].length - 1),
    },
  }));
}

function isInsideByCoefficients(block, { vector, radius, frame }, dual) {
  const less = (p, value) => sumOf(p, [value], -1n);
  if (block.kind === "nonnegative") return vector.every((p, i) => isNonnegative(less(p, radius[i])));
  if (block.kind === "second-order") {
    const squares = sum(radius.slice(1).map((each) => each * each));
    const height = less(vector[0], radius[0] + (squares ? squareRoot(squares) + 1n : 0n));
    const tail = vector.slice(1);
    return isNonnegative(height) && isNonnegative(sumOf(polynomialProduct(height, height), dotOf(tail, tail), -1n));
  }
  if (block.kind === "semidefinite") return isSemidefiniteOnPart(block.order, vector, radius, frame);
  return [1n, -1n].every((sign) => {
    const above = less(vector[2], radius[2]);
    if (!dual) return isAboveExponential(less(vector[0], -radius[0]), less(vector[1], sign * radius[1]), above);
    const u = less(vector[0], sign * radius[0]);
    return isAboveExponential(sumOf(u, less(vector[1], radius[1]), -1n), scaled(-1n, u), above);
  });
}

function isAboveExponential(a, c, d) {
  const [leastC, leastD] = [leastOf(c), leastOf(d)];
  if (leastC <= 0n || leastD <= 0n) return false;
  const wronskian = (p, q) => sumOf(polynomialProduct(slopeOf(p), q), polynomialProduct(p, slopeOf(q)), -1n);
  const numerator = sumOf(polynomialProduct(c, wronskian(d, c)), polynomialProduct(d, wronskian(a, c)), -1n);
  const half = [sizeOf(numerator), 2n * leastC * leastC * leastD];
  return [0, -1].every((end) => {
    return exponentialAtMost(add(fraction(a.at(end), c.at(end)), half), fraction(d.at(end), c.at(end)));
  });
}

function isSemidefiniteOnPart(order, vector, radius, frame) {
  const scale = 1n << ROOT_BITS;
  const root = squareRoot((scale * scale) / 2n); // of 1/2
  const S = Array.from({ length: order }, () => Array(order));
  const change = Array(order).fill(0n);
  let place = 0;
  for (let column = 0; column < order; column++) {
    for (let row = 0; row <= column; row++) {
      const [p, reach] = [vector[place], radius[place]];
      place++;
      S[row][column] = S[column][row] = scaled(row === column ? scale : root, p);
      if (row === column) change[row] += reach * scale;
      else for (const each of [row, column]) change[each] += sizeOf(p) + reach * (root + 1n);
    }
  }
  const largest = maximum(change);
  for (let row = 0; row < order; row++) S[row][row] = sumOf(S[row][row], [largest], -1n);
  const matrix = frame ? congruent(S, frame) : S;
  return matrix[0][0].every((_, i) => isSemidefinite(matrix.map((row) => row.map((p) => p[i]))));
}

/** C'SC times unit^2, where unit C = [[unit I, V], [0, unit I]] with the rows of J first. */
function congruent(S, { rows, others, V, unit }) {
  const columns = [ // of unit C: in each the rows of S that are taken, with their polynomials
    ...rows.map((row) => [[row, [unit]]]),
    ...others.map((other, k) => [[other, [unit]], ...rows.map((row, i) => [row, V[i][k]])]),
  ];
  const length = S[0][0].length + 2 * (V[0][0].length - 1);
  const taken = (polynomials) => polynomials.reduce((total, p) => sumOf(total, p), [0n]);
  const half = S.map((row) => columns.map((column) => taken(column.map(([j, p]) => polynomialProduct(row[j], p)))));
  return columns.map((column) => columns.map((_, k) => {
    return lift(taken(column.map(([j, p]) => polynomialProduct(half[j][k], p))), length);
  }));
}

function needInsideOnPiece(line, vector, radius, dual, frames, text) {
  const remaining = [...frames];
  for (const block of line.blocks) {
    const frame = block.kind === "semidefinite" ? remaining.shift()[dual ? 1 : 0] : null;
    if (block.kind === "zero") continue;
    const step = block.kind === "nonnegative" ? 1 : block.end - block.begin; // such rows one by one
    for (let row = block.begin; row < block.end; row += step) {
      const [own, reach] = [vector.slice(row, row + step), radius.slice(row, row + step)];
      need(isInsideOnParts(block, own, reach, dual, frame), `${text} the ${block.kind} cone of row ${row}`);
    }
  }
}

/** What is proved of a piece [t, x, y, z, frames], on the problem between its ends. */
function curvePiece(line, inverses, [, ofX, ofY, ofZ, ofFrames], where) {
  const { unit, columns, rows, P, A } = line;
  const x = polynomialsIn(ofX, columns, unit);
  const y = ofY === null ? x : polynomialsIn(ofY, columns, unit);
  const z = polynomialsIn(ofZ, rows, unit);
  const matrices = line.blocks.filter((block) => block.kind === "semidefinite");
  need(Array.isArray(ofFrames) && ofFrames.length === matrices.length, `${where}two frames for each matrix`);
  const frames = ofFrames.map((both, i) => {
    need(Array.isArray(both) && both.length === 2, `${where}two frames for each matrix`);
    return both.map((each) => frameIn(each, matrices[i].order));
  });
  const Ax = movingProduct(A, x);
  const slack = affineOnes(line.b, unit).map((p, row) => sumOf(p, Ax[row], -1n)); // in 1 / unit^2
  const [Py, back, costs] = [movingProduct(P, y), movingProduct(A, z, columns), affineOnes(line.q, unit)];
  const residual = Py.map((p, i) => sumOf(sumOf(p, back[i]), costs[i]));
  const twice = (p) => 2n * unit * sizeOf(p);
  const missed = line.equations.map((row) => twice(slack[row]));
  const D = correction(inverses.C, missed, missed.map(() => 1n), inverses.moreOfEquations, unit);
  const both = correction(inverses.B, residual.map(twice), inverses.scale, inverses.more, unit);
  const [E, W] = [both.slice(0, columns), both.slice(columns)];
  const reach = absoluteProduct(A, D).map((each) => ceilingQuotient(each, unit));
  needInsideOnPiece(line, slack, reach.map((each) => unit * each), false, frames, `${where}b - Ax leaves`);
  needInsideOnPiece(line, z, W, true, frames, `${where}z leaves the dual of`);

  const others = (vector) => vector.filter((_, row) => !line.isEquation[row]);
  const apart = x.map((p, i) => sumOf(p, y[i], -1n));
  const cubed = 2n * unit ** 3n; // all below is in 1 / cubed
  const gap = sumOf(scaled(2n, dotOf(others(z), others(slack))), dotOf(apart, movingProduct(P, apart)));
  const linear = dotOf(affineOnes(line.q, 2n * unit), x);
  const objective = sumOf(dotOf(x, movingProduct(P, x)), sumOf(linear, affineOnes(line.constant, 2n * unit ** 2n)[0]));
  let added = 0n;
  for (let row = 0; row < rows; row++) {
    if (line.isEquation[row]) continue;
    added += 2n * W[row] * sizeOf(slack[row]) + 2n * unit * (sizeOf(z[row]) + W[row]) * reach[row];
  }
  const moved = plus(D, E);
  added += 2n * dot(moved, absoluteProduct(P, apart.map(sizeOf))) + dot(moved, absoluteProduct(P, moved));
  const slopes = plus(absoluteProduct(P, x.map(sizeOf)), affineOnes(line.q, unit).map(sizeOf));
  const M = fraction(2n * dot(D, slopes) + dot(D, absoluteProduct(P, D)), cubed);
  const width = add(add(largestValue(gap, cubed), fraction(added, cubed)), M);
  const below = add(largestValue(scaled(-1n, objective), cubed), width);
  return { low: [-below[0], below[1]], high: add(largestValue(objective, cubed), M), width };
}

/** The largest Bernstein coefficient on sixteen parts of a polynomial in 1 / scale. */
function largestValue(p, scale) {
  let parts = [p];
  for (let i = 0; i < HALVED; i++) parts = parts.flatMap(bothHalves);
  const grown = scale << BigInt(HALVED * (p.length - 1));
  return parts.flatMap((part) => part.map((each, i) => [each, grown * binomials(p.length - 1)[i]])).reduce(larger);
}

function checkCurve(problem, stretches, report) {
  const areLists = (value, length) => Array.isArray(value) && value.every((each) => {
    return Array.isArray(each) && each.length === length;
  });
  need(areLists(stretches, 4) && stretches.length > 0, "a stretch is B, C, scale and pieces");
  const all = stretches.flatMap(([, , , pieces]) => {
    need(areLists(pieces, 5) && pieces.length > 0, "a piece is t, x, y, z and frames");
    return pieces;
  });
  need(all.length <= MOST_PIECES, "too many pieces");
  const highest = (values) => values.map((each) => unitIn(each)).reduce((unit, own) => (own > unit ? own : unit), 1n);
  const unit = highest([
    ...problem.values(),
    ...stretches.flatMap((stretch) => stretch.slice(0, 3)),
    ...all.flatMap((piece) => piece.slice(1, 4)),
  ]);
  const grid = highest(all.map(([t]) => t));
  const line = coneLine(problem, unit);
  need(line.until === unit, "a curve goes until t = 1");
  need(line.blocks.every((block) => block.kind !== "power"), "a curve has no power cones");
  const found = [];
  let first = 0n;
  for (const [B, C, scale, pieces] of stretches) {
    const ends = pieces.map(([t]) => wholeIn(t, grid));
    const inverses = inversesOf(lineOn(line, first, ends[ends.length - 1], grid), [B, C, scale]);
    pieces.forEach((piece, i) => {
      const where = `piece ${found.length}: `;
      need(first < ends[i] && ends[i] <= grid, `${where}t must increase, up to 1`);
      found.push(curvePiece(lineOn(line, first, ends[i], grid), inverses, piece, where));
      first = ends[i];
      report(found.length / all.length);
    });
  }
  need(first === grid, "the pieces end at t = 1");
  return found;
}

// ---- The statement --------------------------------------------------------------------------------------------------

const FORMS = {
  "exact certificate 1": ["segments", "ray"],
  "bounded certificate 1": ["points", "stretch"],
  "band certificate 1": ["B", "C", "scale", "points"],
  "map certificate 1": ["regions", "outside"],
  "ranges certificate 1": ["letters", "sides"],
  "curve certificate 1": ["stretches"],
};

/** What is proved of the text of a file, in words; an Error says what fails. */
function checkText(text, report = () => {}) {
  const content = new Reader(text).whole();
  need(content instanceof Map, "no object of JSON");
  const form = content.get("format");
  need(typeof form === "string" && Object.hasOwn(FORMS, form), "no format of a certificate");
  const problem = content.get("problem");
  need(problem instanceof Map, "no problem");
  const digest = sha256(compact(problem));
  need(content.get("sha256") === digest, "another hash");
  const known = ["format", "problem", "sha256", ...FORMS[form]];
  need([...content.keys()].every((name) => known.includes(name)), "a field has no meaning");
  for (const name of FORMS[form]) need(name === "ray" || content.has(name), `${name} is missing`);
  const said = statement(form, problem, content, report);
  const about = [["positive", "label of +1"], ["about", "about"]].flatMap(([name, words]) => {
    return problem.has(name) ? [`${words}: ${quoted(problem.get(name))}`] : [];
  });
  return [
    `PROVED without rounding: ${said}`,
    `sha256 of the problem: ${digest}`,
    `Not compared: data of your own. Said, not checked: ${about.join(", ") || "nothing"}`,
  ].join("\n");
}

function statement(form, problem, content, report) {
  const words = WORDS[problem.get("kind")];
  if (form === "exact certificate 1") {
    const early = content.has("ray");
    const segments = content.get("segments");
    const t = checkSegments(problem, segments, early, report);
    if (early) {
      need(compare(t, [1n, 1n]) < 0n, "the path ends at t = 1, and a ray is for what is beyond");
      checkRay(problem, t, content.get("ray"));
    }
    const until = early ? `${asDouble(t)}, and for no later t there is a minimum` : "1";
    return `for every t from 0 to ${until}, what the file states on ${segments.length} segments minimises\n${words}.`;
  }
  if (form === "bounded certificate 1") {
    const points = content.get("points");
    const gap = checkPoints(problem, points, content.get("stretch"), report);
    const side = problem.get("kind") === "program" ? "above" : "below";
    return `for every t from 0 to 1, with ${points.length} knots, the value of the file is at most about ` +
      `${asDouble(gap)}\n${side} the minimum of ${words}.`;
  }
  if (form === "band certificate 1") {
    const { pieces, until } = checkBand(content, report);
    const width = pieces.map((piece) => piece.width).reduce(larger);
    return `for every t from 0 to ${asDouble(until)}, on ${pieces.length} pieces, the file's points are within about ` +
      `${asDouble(width)}\nof the minimum of x'Px / 2 + q(t)'x + constant(t) where b(t) - Ax is in the cones.`;
  }
  if (form === "curve certificate 1") {
    const pieces = checkCurve(problem, content.get("stretches"), report);
    const width = pieces.map((piece) => piece.width).reduce(larger);
    return `for every t from 0 to 1, on ${pieces.length} pieces, the file's polynomials are within about ` +
      `${asDouble(width)}\nof the minimum of x'Px / 2 + q(t)'x + constant(t) where b(t) - Ax is in the cones.`;
  }
  if (form === "ranges certificate 1") {
    return rangesInWords(checkRanges(problem, content.get("letters"), content.get("sides"), report));
  }
  const { count, domain } = checkMap(problem, content.get("regions"), content.get("outside"), report);
  const corners = domain.map(([w, x, y]) => `(${asDouble([x, w])}, ${asDouble([y, w])})`).join(", ");
  const where = domain === SQUARE ? "the unit square" : `the polygon with corners near ${corners}`;
  return `for all s and t of ${where}, what the file states on ${count} polygons minimises\n${words}.`;
}

if (typeof module !== "undefined" && typeof require !== "undefined" && require.main === module) {
  const fs = require("fs");
  const zlib = require("zlib");
  try {
    const file = process.argv[2];
    const raw = fs.readFileSync(file);
    const bytes = file.endsWith(".gz") ? zlib.gunzipSync(raw, { maxOutputLength: MOST_TEXT }) : raw;
    console.log(checkText(bytes.toString("utf8")));
  } catch (error) {
    console.log(`NOT PROVED: ${error.message}`);
    process.exitCode = 1;
  }
}
if (typeof module !== "undefined") module.exports = { checkText };
