/* Exact inference over binary variables, by eliminating one after the other.
 *
 * The model is what whatif.py writes. Tables hold natural logarithms; bit i of an index
 * is the state of the scope's i-th variable, 1 for true. */

/** P(true) of every variable, with `changed` priors by position of the source. */
function posteriors(model, changed = new Map()) {
  const priors = priorsOf(model, changed);
  const steps = eliminate(factorsOf(model, priors), model.order);
  return marginals(steps, model.variables.length);
}

/** Prior of every variable: ½ for an atom, the source's for a passage. */
function priorsOf(model, changed) {
  const own = ([source, prior]) => changed.get(source) ?? prior;
  const priors = model.variables.map((variable) =>
    variable.passages ? Math.max(...variable.passages.map(own)) : 0.5,
  );
  model.variables.forEach((variable, v) => {
    if (!variable.document) return;
    const total = variable.document.reduce((sum, passage) => sum + priors[passage], 0);
    priors[v] = total / variable.document.length;
  });
  return priors;
}

function factorsOf(model, priors) {
  const factors = priors.map((p, v) => factor([v], [1 - p, p]));
  for (const [label, x, y, strength] of model.relations) {
    factors.push(factor([x, y], relationTable(label, strength, priors[y], model.parameterisation)));
  }
  model.variables.forEach((variable, v) => {
    for (const passage of variable.document ?? []) {
      const table = dependenceTable(priors[v], priors[passage], model.correlation);
      factors.push(factor([v, passage], table));
    }
  });
  return factors;
}

function factor(scope, linear) {
  return { scope, table: Float64Array.from(linear, Math.log) };
}

/** Entries for (x, y) = 00, 10, 01, 11, as relation_factor in markov/factors.py has them. */
function relationTable(label, p, priorY, parameterisation) {
  const q = 1 - p;
  if (label === "equivalence") return [p, q, q, p];
  const premiseFalse = parameterisation === "table1" ? p : priorY;
  return label === "entailment" ? [premiseFalse, q, premiseFalse, p] : [premiseFalse, p, premiseFalse, q];
}

/** P(passage | document) / P(passage), as verdicts/documents.py has it. */
function dependenceTable(document, prior, correlation) {
  if (!(prior > 0 && prior < 1 && document > 0 && document < 1)) return [1, 1, 1, 1];
  const root = Math.sqrt(document / (1 - document));
  const wanted = correlation * Math.sqrt(prior * (1 - prior));
  const spread = Math.min(wanted, prior / root, (1 - prior) * root);
  const ifNot = Math.max(0, prior - spread * root);
  const ifSo = Math.min(1, prior + spread / root);
  return [(1 - ifNot) / (1 - prior), (1 - ifSo) / (1 - prior), ifNot / prior, ifSo / prior];
}

/** Sums variables out in order; a step keeps its product and the message that it sent. */
function eliminate(factors, order) {
  const place = new Map(order.map((variable, i) => [variable, i]));
  const buckets = order.map(() => []);
  const put = (f) => buckets[Math.min(...f.scope.map((v) => place.get(v)))].push(f);
  factors.forEach(put);
  return order.map((variable, i) => {
    const rest = [...new Set(buckets[i].flatMap((f) => f.scope))].filter((v) => v !== variable);
    const product = multiply(buckets[i], [variable, ...rest]);
    const message = { scope: rest, table: sumOutFirst(product.table) };
    if (rest.length) put(message);
    const parent = rest.length ? Math.min(...rest.map((v) => place.get(v))) : -1;
    return { product, message, parent };
  });
}

function multiply(factors, scope) {
  const table = new Float64Array(2 ** scope.length);
  for (const f of factors) {
    const bits = f.scope.map((v) => scope.indexOf(v));
    for (let i = 0; i < table.length; i++) table[i] += f.table[project(i, bits)];
  }
  return { scope, table };
}

/** The index of a smaller scope, whose variables stand at `bits` of the larger. */
function project(index, bits) {
  let found = 0;
  for (let i = 0; i < bits.length; i++) found |= ((index >> bits[i]) & 1) << i;
  return found;
}

function sumOutFirst(table) {
  return Float64Array.from({ length: table.length / 2 }, (_, i) =>
    logAdd(table[2 * i], table[2 * i + 1]),
  );
}

function logAdd(a, b) {
  const high = Math.max(a, b);
  return high === -Infinity ? high : high + Math.log(Math.exp(a - high) + Math.exp(b - high));
}

/** From the last step back: each joint is P(variable | rest) times P(rest). */
function marginals(steps, count) {
  const found = new Array(count).fill(0.5);
  const joints = new Array(steps.length);
  for (let i = steps.length - 1; i >= 0; i--) {
    const { product, message, parent } = steps[i];
    const rest = parent < 0 ? [1] : marginal(steps[parent].product.scope, joints[parent], message.scope);
    joints[i] = product.table.map((value, index) => {
      const weight = rest[index >> 1];
      return weight > 0 ? weight * Math.exp(value - message.table[index >> 1]) : 0;
    });
    found[product.scope[0]] = joints[i].reduce((sum, p, index) => sum + (index & 1 ? p : 0), 0);
  }
  return found;
}

function marginal(scope, joint, kept) {
  const bits = kept.map((v) => scope.indexOf(v));
  const found = new Float64Array(2 ** kept.length);
  joint.forEach((p, index) => (found[project(index, bits)] += p));
  return found;
}
