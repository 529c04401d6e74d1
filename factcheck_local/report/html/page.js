/* The page: views, claims that open, filters, and the drawing's focus.
 *
 * What others wrote is only ever set as text. Without this script the page can be read,
 * too; "js" on the root shows what needs it. */

document.documentElement.classList.add("js");
document.addEventListener("DOMContentLoaded", () => find("#data") && start());

const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

/** The elements of the claims, in the order of their numbers; they do not change. */
const claimElements = () => (claimElements.all ??= findAll("details.claim"));
const claimElement = (number) => claimElements()[number - 1];

/** Begins with the report that is in the page; a keeper of reviews is one as in review.js. */
function start(keeper) {
  const data = JSON.parse(find("#data").textContent);
  data.passages = unpackOnce(() => find("#passages").textContent);
  const review = startReview(data, keeper);
  for (const details of claimElements()) {
    details.addEventListener("toggle", () => details.open && fillClaim(details, data, review));
  }
  document.addEventListener("click", followLink);
  window.addEventListener("hashchange", route);
  // The browser goes to the fragment by itself once all is loaded, but not around the sticky bar.
  window.addEventListener("load", route);
  startFilters();
  startMarks();
  startGraph();
  if (data.model) startSources(data.model);
  route();
}

/* ---------------------------------------------------------------- views */

/** Shows the view that the fragment is in, and opens the claim around it. */
function route() {
  const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
  const view = target?.closest(".view") ?? find(".view");
  for (const other of findAll(".view")) other.classList.toggle("shown", other === view);
  for (const link of findAll("nav a")) {
    if (link.hash === `#${view.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const details = target?.closest("details.claim");
  if (details) openClaim(details, target);
  else if (target && target !== view) showPlace(target);
  else window.scrollTo(0, Math.min(window.scrollY, find(".top").offsetHeight));
}

/** To a fragment, at once, even if the address has it already. */
function goTo(fragment) {
  if (location.hash !== fragment) history.pushState(null, "", fragment);
  route();
}

function followLink(event) {
  const link = event.target.closest("a[href^='#']");
  if (!link) return;
  event.preventDefault();
  goTo(link.getAttribute("href"));
}

/** A place in the answer, with its claims' links, or the list of the claims. */
function showPlace(target) {
  const place = target.matches(".chips") ? find("a", target) : target;
  target.scrollIntoView({ block: place === target ? "start" : "center" });
  place.focus({ preventScroll: true });
}

/** Opens a claim at one of its parts, and marks its sentence in the answer. */
function openClaim(details, part) {
  details.classList.remove("filtered");
  details.open = true;
  const evidence = part?.closest("li[data-evidence]");
  (evidence ?? details).scrollIntoView({ block: "start" });
  find("summary", details).focus({ preventScroll: true });
  markCurrent([details.dataset.claim]);
}

/* ------------------------------------------------------------- evidence */

/** Puts passages and the reviewer's controls into a claim that is opened for the first time. */
async function fillClaim(details, data, review) {
  if (details.classList.contains("filled")) return;
  details.classList.add("filled");
  const claim = data.claims[details.dataset.claim - 1];
  review.addClaim(details, claim);
  const passages = await data.passages();
  for (const item of findAll("li[data-evidence]", details)) {
    const [passage, , spans] = claim.evidence[item.dataset.evidence];
    const element = passageElement(passages[passage].text, spans);
    find("blockquote", item).after(element);
    item.classList.add("filled");
    scrollToQuote(element);
    review.addEvidence(item, claim);
  }
}

/** A function that unpacks compressed JSON when it is first called. */
function unpackOnce(read) {
  let unpacked;
  return () => (unpacked ??= unpack(read()));
}

/** What packed() in safe.py wrote. */
async function unpack(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** A passage with its deciding sentences highlighted; spans count code points. */
function passageElement(text, spans) {
  const characters = Array.from(text);
  const element = document.createElement("div");
  element.className = "passage";
  element.tabIndex = 0;
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", "The passage, with what decides highlighted");
  let end = 0;
  for (const [from, to] of spans) {
    element.append(visible(characters.slice(end, from).join("")));
    const quote = document.createElement("mark");
    quote.textContent = visible(characters.slice(from, to).join(""));
    element.append(quote);
    end = to;
  }
  element.append(visible(characters.slice(end).join("")));
  return element;
}

/** A long passage is a window on it; the quote goes in its middle. */
function scrollToQuote(passage) {
  const quote = find("mark", passage);
  if (!quote) return;
  passage.scrollTop = quote.offsetTop + quote.offsetHeight / 2 - passage.clientHeight / 2;
}

/** Characters that steer or hide, written out, as visible() in safe.py does. */
function visible(text) {
  const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
  return text.replace(/\r\n?/g, "\n").replace(hidden, (character) => {
    if ("\n\t\u200c\u200d".includes(character)) return character;
    const code = character.codePointAt(0);
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}

/** As percent() in view.py: never rounded to certainty, nor to ½. */
function percent(p) {
  if (p === null) return "–";
  let shown = p > 0 && p < 1 ? Math.min(Math.max(p, 0.001), 0.999) : p;
  const off = p - 0.5;
  if (Math.abs(off) < 0.001) shown = 0.5 + (Math.abs(off) > 1e-9 ? 0.001 * Math.sign(off) : 0);
  return `${(100 * shown).toFixed(1)} %`;
}

/* --------------------------------------------------- the answer's marks */

/** A click on a sentence opens its claims, as far as they are shown, and goes to the first. */
function startMarks() {
  find(".written").addEventListener("click", (event) => {
    const mark = event.target.closest("mark[data-claims]");
    if (!mark || !getSelection().isCollapsed) return;
    const claims = numbersOf(mark).map(claimElement);
    const shown = claims.filter((details) => !details.classList.contains("filtered"));
    for (const details of shown.slice(1)) details.open = true;
    goTo(`#claim-${(shown[0] ?? claims[0]).dataset.claim}`);
  });
}

const numbersOf = (element) => element.dataset.claims.trim().split(" ");

/** Outlines claims in the answer, and brings their sentence into its pane. */
function markCurrent(numbers) {
  const pane = find(".written");
  let first = null;
  for (const element of findAll("[data-claims]", pane)) {
    const current = numbersOf(element).some((number) => numbers.includes(number));
    element.classList.toggle("current", current);
    if (current) first ??= element;
  }
  if (first && pane.scrollHeight > pane.clientHeight) {
    const middle = first.offsetTop - pane.offsetTop - pane.clientHeight / 2;
    pane.scrollTop = Math.max(0, middle);
  }
}

/* -------------------------------------------------------------- filters */

function startFilters() {
  const buttons = findAll(".filters button");
  for (const button of buttons) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(!isPressed(button)));
      applyFilters(buttons);
    });
  }
}

const isPressed = (button) => button.getAttribute("aria-pressed") === "true";

/** Shows the claims of any pressed verdict; without one, all. Printing ignores this. */
function applyFilters(buttons) {
  const pressed = buttons.filter(isPressed);
  const verdicts = pressed.map((button) => button.dataset.verdict).filter(Boolean);
  const unjudged = pressed.some((button) => button.dataset.judged);
  const claims = claimElements();
  for (const details of claims) {
    const wanted = !verdicts.length || verdicts.some((verdict) => details.classList.contains(verdict));
    details.classList.toggle("filtered", !wanted || (unjudged && details.hasAttribute("data-judged")));
  }
  for (const element of findAll(".written [data-claims]")) {
    const shown = numbersOf(element).some((n) => !claimElement(n).classList.contains("filtered"));
    element.classList.toggle("faded", !shown);
  }
  const shown = claims.filter((details) => !details.classList.contains("filtered")).length;
  const all = shown === claims.length;
  find("#shown").textContent = all ? `all ${shown} shown` : `${shown} of ${claims.length} shown`;
}

/* ---------------------------------------------------------------- graph */

/** Lights up a node's relations while it has the pointer or the focus. */
function startGraph() {
  const graph = find("svg.graph");
  if (!graph) return;
  const light = (event) => lightNode(graph, event.target.closest("[data-node]")?.dataset.node);
  for (const kind of ["pointerover", "focusin"]) graph.addEventListener(kind, light);
  for (const kind of ["pointerleave", "focusout"]) {
    graph.addEventListener(kind, () => lightNode(graph, undefined));
  }
}

function lightNode(graph, key) {
  const near = new Set([key]);
  for (const edge of findAll(".edge", graph)) {
    const ends = edge.dataset.ends.split(" ");
    const lit = ends.includes(key);
    edge.classList.toggle("lit", lit);
    if (lit) ends.forEach((end) => near.add(end));
  }
  for (const node of findAll("[data-node]", graph)) {
    node.classList.toggle("lit", near.has(node.dataset.node));
  }
  graph.classList.toggle("focused", key !== undefined);
}
