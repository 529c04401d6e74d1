/* What all pages share: asking the server, its key, and elements made of text.
 *
 * find, findAll, visible and percent are those of the report's page.js. What others wrote becomes an
 * element through make() alone, which sets text. */

const KEPT = "factcheck.key";
let key = stored();
let asking = null;

/** The key of this tab; where storage is blocked it lasts as long as the page. */
function stored(value) {
  try {
    if (value === "") sessionStorage.removeItem(KEPT);
    else if (value) sessionStorage.setItem(KEPT, value);
    return sessionStorage.getItem(KEPT) ?? "";
  } catch {
    return value ?? "";
  }
}

/** What the server says is wrong, with its status. */
export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** A response of the server; asks for a key where one is needed. */
export async function call(path, { method = "GET", body, headers = {} } = {}) {
  for (;;) {
    const used = key;
    const sent = { ...headers };
    if (used) sent.Authorization = `Bearer ${used}`;
    if (body !== undefined) sent["Content-Type"] = "application/json";
    const answered = await fetch(path, { method, headers: sent, body: body && JSON.stringify(body), cache: "no-store" });
    if (answered.ok) return answered;
    if (answered.status !== 401) {
      const problem = await answered.json().catch(() => ({}));
      throw new Problem(answered.status, problem.detail ?? answered.statusText);
    }
    // Another request may have brought a key meanwhile.
    if (used === key) await (asking ??= askForKey(Boolean(used)).finally(() => (asking = null)));
  }
}

export const json = async (path, options) => (await call(path, options)).json();

function askForKey(refused) {
  const dialog = find("#key");
  const input = find("input", dialog);
  // What is no header's value could never be sent, nor a tab that kept it ask for another one.
  input.oninput = () => input.setCustomValidity(/^[\x21-\x7e]*$/.test(input.value.trim()) ? "" : "A key has letters, digits and signs of ASCII alone.");
  find("#refused").hidden = !refused;
  input.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve, reject) => {
    dialog.addEventListener(
      "close",
      () => {
        key = dialog.returnValue ? input.value.trim() : "";
        input.value = "";
        if (dialog.returnValue && key) resolve(stored(key));
        else reject(new Problem(401, "Nothing can be shown without a key. Load the page again to give one."));
      },
      { once: true },
    );
  });
}

/** An element; texts among its children and attributes are text, whatever they say. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  const there = children.flat().filter((child) => child != null && child !== "");
  element.append(...there.map((child) => (child instanceof Node ? child : visible(String(child)))));
  return element;
}

/** The signs of verdicts, as the report has them. */
const SIGNS = JSON.parse(document.body.dataset.signs);

export const words = (verdict) => verdict.replaceAll("_", " ");

export const badge = (verdict) =>
  make("span", { class: `badge ${verdict}` }, make("span", { "aria-hidden": "true" }, SIGNS[verdict]), ` ${words(verdict)}`);

/** Seconds since 1970 as the reader's own date and time. */
export const time = (seconds) => make("time", { datetime: new Date(1000 * seconds).toISOString() }, new Date(1000 * seconds).toLocaleString());

export const place = (passage) => passage.source + (passage.page ? `, p. ${passage.page}` : passage.line ? `:${passage.line}` : "");

export const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** The texts of a field that takes several with ; between. */
export const several = (line) => line.split(";").map((text) => text.trim()).filter(Boolean);

/** Gives the reader a file; a link to the server would not bring the key. */
export function save(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Runs a page's work; what goes wrong is said at the top of it. */
export async function run(work) {
  const trouble = find("#trouble");
  trouble.hidden = true;
  try {
    return await work();
  } catch (error) {
    trouble.textContent = visible(error instanceof Problem ? error.message : `The server cannot be reached, or the page is at fault: ${error.message}`);
    trouble.hidden = false;
    trouble.scrollIntoView({ block: "nearest" });
    if (!(error instanceof Problem || error instanceof TypeError)) throw error;
    return undefined;
  }
}

/** Who asks; parts of the site that they may not use are taken out of its bar. */
export const me = run(async () => {
  const found = await json("/v1/me");
  for (const link of findAll(".site a[data-scope]")) {
    if (link.dataset.scope && !found.scopes.includes(link.dataset.scope)) link.remove();
  }
  if (found.keys) {
    const forget = () => {
      stored("");
      location.reload();
    };
    find("#me").append(make("span", {}, found.name), " ", make("button", { type: "button", click: forget }, "Forget the key"));
  }
  return found;
});

/** Calls back with a form's fields when it is sent, and when one of its choices changes. */
export function onForm(form, work) {
  const fields = () => Object.fromEntries(new FormData(form));
  const go = () => run(() => work(fields()));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  for (const select of findAll("select", form)) select.addEventListener("change", go);
  return go;
}
