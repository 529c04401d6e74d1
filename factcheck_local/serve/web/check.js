/* A check: how far it is, then its report with reviews that the server keeps. */

import { badge, call, json, make, me, place, Problem, run, save, words } from "/web/api.js";
import { changesElement } from "/web/changes.js";
import { serverKeeper } from "/web/keeper.js";

const id = location.pathname.split("/")[2];
const path = `/v1/checks/${id}`;
const asked = new URLSearchParams(location.search);

const STAGES = {
  load: "loading the models",
  atomize: "splitting the answer into claims",
  revise: "rewording the claims",
  retrieve: "looking for passages",
  relate: "reading passages",
  reason: "weighing the evidence",
  quote: "picking quotes",
  judge: "judging the claims",
};

/* ------------------------------------------------------------- under way */

/** What is told of the check; a line that breaks off is taken up again by its last number. */
async function* events(last) {
  const answered = await call(`${path}/events`, { headers: { "Last-Event-ID": String(last) } });
  const reader = answered.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const field = (name) => block.split("\n").find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (field("data")) yield { number: Number(field("id")), name: field("event"), data: JSON.parse(field("data")) };
    }
  }
}

/** The check once it has ended; shows on the way what is told. */
async function follow(check) {
  let last = 0;
  find("#under-way").hidden = false;
  find("#cancel").addEventListener("click", () => run(() => call(path, { method: "DELETE" })));
  while (!["done", "failed", "cancelled"].includes(check.state)) {
    if (check.state === "queued") find("#doing").textContent = check.ahead ? `waiting, ${check.ahead} before it` : "waiting";
    try {
      for await (const event of events(last)) {
        last = event.number;
        tell(event);
      }
    } catch (error) {
      // A reviewer may not watch another's check, only look at it; and connections break.
      if (error instanceof Problem && ![403, 404].includes(error.status)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
    check = await json(path).catch((error) => {
      if (error instanceof Problem) throw error;
      find("#doing").textContent = "the server cannot be reached; trying again";
      return check;
    });
  }
  find("#under-way").hidden = true;
  return check;
}

function tell({ name, data }) {
  const bar = find("#done");
  if (name === "stage") {
    find("#doing").textContent = STAGES[data.stage] ?? data.stage;
    bar.removeAttribute("value");
  } else if (name === "progress") {
    bar.max = data.count;
    bar.value = data.done;
  } else if (name === "claim") {
    showClaim(data);
  } else if (name === "queued" && data.again) {
    find("#claims").replaceChildren();
    find("#doing").textContent = "waiting again: the process that checked it ended";
  }
}

function showClaim({ claim, contexts }) {
  const from = claim.evidence.map((e) => [e.relation, contexts.find((c) => c.id === e.context)]);
  const said = from.map(([relation, c]) =>
    make("p", { class: "facts" }, make("span", { class: `verb ${relation}` }, relation === "entailment" ? "supports" : "contradicts"), ` ${place(c)}`),
  );
  const head = make("p", {}, badge(claim.verdict), ` ${percent(claim.probability)} `, make("span", { class: "text" }, claim.text));
  const item = make("li", { "data-id": claim.id }, head, said);
  const known = findAll("#claims li").find((other) => other.dataset.id === claim.id);
  if (known) known.replaceWith(item);
  else find("#claims").append(item);
}

/* ------------------------------------------------------------ its report */

async function showReport(check) {
  const [asks, answered] = [await me, await call(`${path}/report.html`)];
  const { scopes, name } = asks;
  const text = await answered.text();
  // Without its head: style and script are this page's own files already.
  const parsed = new DOMParser().parseFromString(text.slice(text.indexOf("<body>")), "text/html");
  const data = JSON.parse(find("#data", parsed).textContent);
  const mayReview = scopes.includes("review");
  const keeper = mayReview ? await serverKeeper(path, data.claims, await unpack(find("#passages", parsed).textContent), name) : undefined;
  document.title = `${find("h1", parsed).textContent} · factcheck-local`;
  find(".skip").replaceWith(find(".skip", parsed));
  find("#main").replaceWith(...find("body", parsed).childNodes);
  find(".top").append(tools(check, asks));
  await showChanges();
  start(keeper);
  const claim = data.claims.findIndex((one) => one.id === asked.get("claim"));
  if (claim >= 0) goTo(`#claim-${claim + 1}`);
}

/** Whether who asks may check the same again: a reviewer only looks at another's check. */
const mayRepeat = (check, { scopes, name }) => scopes.includes("check") && (check.owner === name || scopes.includes("admin"));

/** Checking again, and the report in its other forms. */
function tools(check, asks) {
  const forms = ["html", "md", "json", "sarif", "xml"].map((form) => {
    const get = () => run(async () => save(await (await call(`${path}/report.${form}`)).blob(), `${check.name}.${form}`));
    return make("button", { type: "button", click: get }, form);
  });
  const said = make("span", { class: "quiet", role: "status", id: "same" });
  const anew = make("button", { type: "button", id: "again", click: () => run(again) }, "What changed since?");
  return make("div", { class: "row tools" }, mayRepeat(check, asks) ? anew : "", said, make("span", { class: "quiet" }, "Save as"), forms);
}

async function again() {
  const now = await json(`${path}/again`, { method: "POST" });
  if (now.id !== id) location.assign(`/checks/${now.id}?since=${id}`);
  else find("#same").textContent = "Nothing that decides this check has changed.";
}

/** What is otherwise than in the check that this one repeats. */
async function showChanges() {
  const since = asked.get("since");
  if (!since) return;
  const found = await run(() => json(`${path}/changes?since=${encodeURIComponent(since)}`));
  if (found) find(".top").append(changesElement(found, `/checks/${since}`));
}

run(async () => {
  const asks = await me;
  let check = await json(path);
  find("#title").textContent = visible(check.name === "answer" ? "A check" : `Check of ${check.name}`);
  find("#begins").textContent = visible(check.begins);
  check = await follow(check);
  if (check.state === "done") return showReport(check);
  find("#ended").prepend(make("span", {}, `The check ${check.state === "failed" ? "failed" : "was cancelled"}${check.problem ? `: ${check.problem}` : ""}. `));
  find("#ended").hidden = false;
  // What a cancelled check asked for is not kept.
  find("#again").hidden = check.state === "cancelled" || !mayRepeat(check, asks);
  find("#again").addEventListener("click", () => run(again));
});
