/* Past checks: search in them, and check one again. */

import { badge, count, json, make, me, onForm, run, time, words } from "/web/api.js";

const list = find("#list");
const more = find("#more");
let asked = {};

/** Checks the same again; without anything new it is the same check. */
async function again(check) {
  const now = await json(`/v1/checks/${check.id}/again`, { method: "POST" });
  if (now.id === check.id) find("#found").textContent = "Nothing that decides this check has changed since.";
  else location.assign(`/checks/${now.id}?since=${check.id}`);
}

function row(check, own) {
  const verdicts = Object.entries(check.verdicts ?? {}).filter(([, n]) => n);
  // Of a cancelled check the name alone is kept.
  const name = (check.name === "answer" && (check.question || check.begins)) || check.name;
  const facts = make("p", { class: "facts" }, time(check.created), check.owner === own ? "" : ` · ${check.owner}`);
  return make(
    "li",
    {},
    make("p", {}, make("a", { href: `/checks/${check.id}` }, name)),
    name === check.begins ? "" : make("p", { class: "quiet" }, check.begins),
    facts,
    make(
      "p",
      { class: "row" },
      verdicts.map(([verdict, n]) => make("span", {}, badge(verdict), ` ${n}`)),
      check.state === "done" ? make("button", { type: "button", click: () => run(() => again(check)) }, "What changed since?") : words(check.state),
      check.problem ?? "",
    ),
  );
}

async function show(before) {
  const query = new URLSearchParams(Object.entries({ ...asked, before: before ?? "" }).filter(([, value]) => value));
  const own = (await me)?.name;
  const found = await json(`/v1/checks?${query}`);
  if (!before) list.replaceChildren();
  list.append(...found.checks.map((check) => row(check, own)));
  find("#found").textContent = count(list.children.length, "check") + (found.before ? ", and more" : "");
  more.hidden = !found.before;
  more.onclick = () => run(() => show(found.before));
}

onForm(find("#filter"), (fields) => {
  asked = fields;
  return show();
})();
