/* Search in the passages. */

import { count, json, make, me, onForm, place, several } from "/web/api.js";

await me;
onForm(find("#query"), async ({ query, k, retrieval, where }) => {
  if (!query.trim()) return;
  const body = { query, k: Number(k), retrieval, where: several(where) };
  const { passages } = await json("/v1/search", { method: "POST", body });
  find("#found").textContent = count(passages.length, "passage");
  find("#list").replaceChildren(...passages.map(row));
});

function row(passage) {
  const facts = [`similarity ${passage.similarity.toFixed(2)}`, `prior ${passage.prior}, by rule “${passage.prior_rule}”`, passage.date && `dated ${passage.date}`];
  return make(
    "li",
    {},
    make("p", { class: "place" }, make("strong", {}, place(passage)), passage.title ? ` ${passage.title}` : ""),
    make("div", { class: "passage", tabindex: "0", role: "group", "aria-label": `Passage of ${passage.source}` }, passage.text),
    make("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
    passage.superseded_by ? make("p", { class: "alert" }, `Superseded by ${passage.superseded_by}.`) : "",
  );
}
