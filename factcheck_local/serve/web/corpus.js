/* The sources: prior, age, and the claims on which they contradict others. */

import { badge, count, json, make, me, onForm, run } from "/web/api.js";

const PAGE = 100;
const YEAR = 365.25 * 24 * 3600 * 1000;

const { scopes } = (await me) ?? { scopes: [] };
const sources = (await run(() => json("/v1/sources")))?.sources ?? [];
const claims = (scopes.includes("check") && (await run(() => json("/v1/conflicts")))?.claims) || [];

const years = ({ date }) => (Date.now() - Date.parse(date)) / YEAR;

/** Age in words; a date may be one that no calendar has. */
function age(source) {
  const past = years(source);
  if (Number.isNaN(past)) return `dated ${source.date}`;
  const months = Math.floor(12 * past);
  const said = past >= 1 ? `${count(Math.floor(past), "year")} old` : months > 0 ? `${count(months, "month")} old` : "new";
  return `dated ${source.date}, ${said}`;
}

for (const source of sources) {
  source.conflicts = claims.filter((claim) => [...claim.support, ...claim.contradict].includes(source.source));
}

const ORDERS = {
  name: (a, b) => a.source.localeCompare(b.source),
  conflicts: (a, b) => b.conflicts.length - a.conflicts.length,
  age: (a, b) => (years(b) || 0) - (years(a) || 0),
  prior: (a, b) => a.prior - b.prior,
};

function conflict(claim, own) {
  const others = claim.support.includes(own) ? claim.contradict : claim.support;
  const link = make("a", { href: `/checks/${claim.check}?claim=${encodeURIComponent(claim.claim)}` }, claim.text);
  return make("li", {}, badge(claim.verdict), " ", link, ` against ${others.filter((name) => name !== own).join(", ") || "itself"}`);
}

function row(source) {
  const said = `${count(source.conflicts.length, "claim")} on which it contradicts others`;
  return make(
    "li",
    {},
    make("p", {}, make("strong", {}, source.source)),
    make("p", { class: "facts" }, `prior ${source.prior}, by rule “${source.rule}” · ${age(source)} · ${count(source.passages, "passage")}`),
    source.superseded_by ? make("p", { class: "alert" }, `Superseded by ${source.superseded_by}.`) : "",
    source.conflicts.length ? make("details", {}, make("summary", {}, said), make("ul", { class: "legend" }, source.conflicts.map((claim) => conflict(claim, source.source)))) : "",
  );
}

const more = find("#more");
const form = find("#filter");
const show = onForm(form, ({ q, order }) => {
  const found = sources.filter((source) => source.source.toLowerCase().includes(q.toLowerCase())).sort(ORDERS[order]);
  let shown = PAGE;
  const draw = () => {
    find("#list").replaceChildren(...found.slice(0, shown).map(row));
    more.hidden = shown >= found.length;
  };
  more.onclick = () => {
    shown += PAGE;
    draw();
  };
  find("#found").textContent = count(found.length, "source");
  draw();
});
form.addEventListener("input", show);
show();
