/* The reviewer's own verdicts: kept in the browser for this run, downloaded as JSON lines. On a
 * server's page another keeper keeps them there (serve/web/keeper.js).
 *
 * A line of kind "relation" is a labelled pair as factcheck calibrate reads it; one of kind
 * "verdict" is the reviewer's word on a claim. */

function startReview(data, keeper = browserKeeper(data.run)) {
  const review = { claims: {}, reviewer: "", ...keeper.read() };
  const tell = (said) => said && (find("#kept").textContent = visible(said));
  let saving = Promise.resolve();
  const save = (claim) => {
    showProgress(data, review);
    // One after the other: the latest word has to come last.
    saving = saving
      .then(() => keeper.write(review, claim))
      .then(tell, (error) => tell(`NOT kept: ${error.message}`))
      .then(() => claim && showOthers(claim));
  };
  const elementOf = (claim) => claimElement(data.claims.indexOf(claim) + 1);
  const showOthers = (claim) => showJudged(elementOf(claim), review.claims[claim.atom], keeper.beside?.(claim));
  const reviewer = find("#reviewer");
  reviewer.value = review.reviewer;
  reviewer.addEventListener("input", () => {
    review.reviewer = reviewer.value;
    save();
  });
  find("#download").addEventListener("click", () => download(data, review));
  data.claims.forEach(showOthers);
  showProgress(data, review);
  return {
    addClaim(details, claim) {
      addClaimForm(details, claim, review, { noteOn: keeper.noteOn ?? "input", save, showOthers });
      find(".body", details).append(keeper.history?.(claim) ?? "");
    },
    addEvidence: (item, claim) => addEvidenceForm(item, claim, review, save),
  };
}

/** Keeps a review in localStorage; where that is blocked, nothing outlives the page.
 *
 * A keeper reads the review that there is; `write` says what became of a change, or throws, and may
 * be a promise. It may have `noteOn`, the event on which a note is written, and say what others
 * think: `beside` a claim's verdict, and as the element of its `history`. */
function browserKeeper(run) {
  const key = `factcheck.review/${run}`;
  return {
    read() {
      try {
        return JSON.parse(localStorage.getItem(key)) ?? {};
      } catch {
        return {};
      }
    },
    write(review) {
      try {
        localStorage.setItem(key, JSON.stringify(review));
        return "";
      } catch {
        return "this browser keeps nothing: download before you leave";
      }
    },
  };
}

/* ---------------------------------------------------------------- forms */

function addClaimForm(details, claim, review, { noteOn, save, showOthers }) {
  const form = find("#judge-claim").content.cloneNode(true);
  const entry = () => (review.claims[claim.atom] ??= { evidence: {} });
  const changed = () => {
    entry().at = new Date().toISOString();
    save(claim);
    showOthers(claim);
  };
  const known = review.claims[claim.atom];
  startChoices(form, `verdict-${claim.atom}`, known?.verdict, (verdict) => {
    entry().verdict = verdict;
    changed();
  });
  const note = find("textarea", form);
  note.value = known?.note ?? "";
  note.addEventListener(noteOn, () => {
    entry().note = note.value;
    changed();
  });
  find(".next", form).addEventListener("click", () => openNext(details));
  find(".body", details).append(form);
}

function addEvidenceForm(item, claim, review, save) {
  const form = find("#judge-evidence").content.cloneNode(true);
  const position = item.dataset.evidence;
  const label = review.claims[claim.atom]?.evidence?.[position];
  startChoices(form, `evidence-${claim.atom}-${position}`, label, (chosen) => {
    const entry = (review.claims[claim.atom] ??= { evidence: {} });
    entry.evidence[position] = chosen;
    entry.at = new Date().toISOString();
    save(claim);
  });
  item.append(form);
}

function startChoices(form, name, chosen, onChange) {
  for (const input of findAll("input[type=radio]", form)) {
    input.name = name;
    input.checked = input.value === (chosen ?? "");
    input.addEventListener("change", () => onChange(input.value));
  }
}

/** The next claim that is shown and not judged; from the first again after the last. */
function openNext(details) {
  const all = claimElements();
  const start = all.indexOf(details) + 1;
  const following = [...all.slice(start), ...all.slice(0, start - 1)].find(
    (other) => !other.classList.contains("filtered") && !other.hasAttribute("data-judged"),
  );
  details.open = false;
  if (following) goTo(`#claim-${following.dataset.claim}`);
  else find("summary", details).focus();
}

/* -------------------------------------------------------------- display */

const isJudged = (entry) => Boolean(entry?.verdict);

/** The reviewer's word in a claim's head, beside it what others say, and the note for paper. */
function showJudged(details, entry, others = "") {
  const judged = isJudged(entry);
  details.toggleAttribute("data-judged", judged);
  const badge = find(".judged", details);
  const own = judged ? `you: ${entry.verdict.replace("_", " ")}` : "";
  badge.textContent = [own, others].filter(Boolean).join(" · ");
  badge.hidden = !badge.textContent;
  const printed = find(".note-printed", details);
  printed.hidden = !entry?.note;
  printed.textContent = entry?.note ? `Reviewer’s note: ${visible(entry.note)}` : "";
}

function showProgress(data, review) {
  const judged = data.claims.filter((claim) => isJudged(review.claims[claim.atom])).length;
  find("#progress").textContent = `${judged} of ${data.claims.length} judged`;
}

/* ------------------------------------------------------------- download */

async function download(data, review) {
  const passages = await data.passages();
  const text = reviewLines(data.claims, passages, review, data.run).map((line) => `${JSON.stringify(line)}\n`).join("");
  const address = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${baseName(data.answer)}.review.jsonl`;
  link.click();
  URL.revokeObjectURL(address);
}

const baseName = (path) => (path ?? "answer").split(/[\\/]/).pop().replace(/\.[^.]*$/, "") || "answer";

function reviewLines(claims, passages, review, run) {
  return claims.flatMap((claim) => {
    const entry = review.claims[claim.atom];
    if (!entry) return [];
    const common = { run, claim: claim.id, reviewer: review.reviewer, at: entry.at };
    return [...verdictLines(claim, entry, common), ...relationLines(passages, claim, entry, common)];
  });
}

function verdictLines(claim, entry, common) {
  if (!entry.verdict && !entry.note) return [];
  return [
    {
      kind: "verdict",
      hypothesis: claim.text,
      verdict: claim.verdict,
      probability: claim.probability,
      certainty: claim.certainty,
      reviewed: entry.verdict || null,
      note: entry.note ?? "",
      ...common,
    },
  ];
}

function relationLines(passages, claim, entry, common) {
  return Object.entries(entry.evidence)
    .filter(([, label]) => label)
    .map(([position, label]) => {
      const [passage, relation] = claim.evidence[position];
      const { text, title, source, id } = passages[passage];
      const pair = { premise: text, title, hypothesis: claim.text, label };
      return { kind: "relation", ...pair, model: relation, source, context: id, ...common };
    });
}
