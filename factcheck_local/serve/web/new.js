/* A new check: an answer that is pasted, dropped or chosen, and the settings of it. */

import { json, me, run, several } from "/web/api.js";

const form = find("#ask");
const answer = find("#answer");
/** A record in place of an answer; null for none. */
let record = null;

async function take(file) {
  if (!file) return;
  const text = await file.text();
  record = file.name.endsWith(".json") ? JSON.parse(text) : null;
  answer.value = record ? (record.output ?? text) : text;
  answer.readOnly = record !== null;
  find("#name").value ||= file.name;
  find("#chosen").textContent = visible(record ? `${file.name}, a record` : file.name);
}

/** A file that is no record is said to be none, in words. */
const taken = (file) =>
  take(file).catch((error) => {
    record = null;
    find("#chosen").textContent = visible(`${file.name} cannot be read: ${error.message}`);
  });

find("#file").addEventListener("change", (event) => taken(event.target.files[0]));
form.addEventListener("dragover", (event) => {
  event.preventDefault();
  form.classList.add("over");
});
form.addEventListener("dragleave", () => form.classList.remove("over"));
form.addEventListener("drop", (event) => {
  form.classList.remove("over");
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  taken(event.dataTransfer.files[0]);
});

const READ = {
  choice: (field) => field.value || null,
  flag: (field) => field.checked,
  number: (field) => Number(field.value),
  texts: (field) => several(field.value),
};
const controls = findAll("[data-kind]", form);
const valueOf = (field) => READ[field.dataset.kind](field);
const before = new Map(controls.map((field) => [field.name, JSON.stringify(valueOf(field))]));

/** The settings that are not the server's own. */
const changed = () =>
  Object.fromEntries(controls.map((f) => [f.name, valueOf(f)]).filter(([name, value]) => JSON.stringify(value) !== before.get(name)));

form.addEventListener("input", () => {
  const names = Object.keys(changed());
  find("#changed").textContent = names.length ? `changed: ${names.join(", ")}` : "as the server has them";
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  run(async () => {
    const question = find("#question").value.trim() || null;
    const name = find("#name").value.trim() || "answer";
    const body = { ...(record ? { record } : { answer: answer.value }), question, name, settings: changed() };
    const check = await json("/v1/checks", { method: "POST", body });
    location.assign(`/checks/${check.id}`);
  });
});
await me;
