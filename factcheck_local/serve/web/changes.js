/* What changed between two checks, as `factcheck diff` has it. */

import { badge, count, make, words } from "/web/api.js";

const side = (witness) => (witness?.relation ? `${witness.relation} ${percent(witness.probability)}` : "nothing");

function cause(change) {
  const now = change.new ?? change.old;
  const what = change.kinds.map((kind) => (kind === "text" ? "text changed" : kind === "prior" ? `prior ${change.old.prior} → ${change.new.prior}` : kind));
  return make("li", {}, make("strong", {}, now.place), ` ${what.join(", ")}: ${side(change.old)} → ${side(change.new)}`, now.quote ? make("q", {}, now.quote) : "");
}

const claim = (state, where) => make("li", {}, badge(state.verdict), ` ${state.text} `, make("span", { class: "quiet" }, where));

/** An element with the changed verdicts, each with the passages that changed it. */
export function changesElement(found, earlier) {
  const changed = found.claims.filter((one) => one.old.verdict !== one.new.verdict);
  const both = count(found.claims.length, "claim");
  const made = found.made_with.filter((one) => !["answer", "question"].includes(one.name)).map((one) => words(one.name));
  return make(
    "section",
    { class: "tile changes", "aria-labelledby": "changes-title" },
    make("h2", { id: "changes-title" }, "What changed since ", make("a", { href: earlier }, "the earlier check")),
    make("p", {}, changed.length ? `${changed.length} of ${both} got another verdict.` : "No verdict is another."),
    make("p", { class: "quiet" }, found.index ? "The index is another one. " : "The index is the same. ", made.length ? `Also otherwise: ${made.join(", ")}.` : ""),
    make(
      "ul",
      { class: "legend" },
      changed.map((one) =>
        make("li", {}, badge(one.old.verdict), " → ", badge(one.new.verdict), ` ${one.new.text}`, make("ul", { class: "without" }, one.evidence.map(cause))),
      ),
      found.added.map((one) => claim(one, "only in this check")),
      found.removed.map((one) => claim(one, "only in the earlier check")),
    ),
  );
}
