/* Claims of checks that the reader may review, by how far their reviews are. */

import { badge, call, count, json, make, me, onForm, run, save, words } from "/web/api.js";

const list = find("#list");
const more = find("#more");
let state = "open";

function row(claim) {
  const address = `/checks/${claim.check}?claim=${encodeURIComponent(claim.claim)}`;
  return make(
    "li",
    {},
    make("p", {}, badge(claim.verdict), " ", make("a", { href: address }, claim.text)),
    claim.reviews.map((r) => make("p", { class: "facts" }, make("strong", {}, r.reviewer), ` ${words(r.verdict)}`, r.reason ? `: ${r.reason}` : "")),
  );
}

async function show(before) {
  const found = await json(`/v1/reviews?state=${state}${before ? `&before=${before}` : ""}`);
  if (!before) list.replaceChildren();
  list.append(...found.claims.map(row));
  find("#found").textContent = count(list.children.length, "claim") + (found.before ? ", and more" : "");
  more.hidden = !found.before;
  more.onclick = () => run(() => show(found.before));
}

find("#export").addEventListener("click", () => run(async () => save(await (await call("/v1/reviews.jsonl")).blob(), "reviews.jsonl")));
await me;
onForm(find("#filter"), (fields) => {
  state = fields.state;
  return show();
})();
