/* Reviews that the server keeps, in the place of the browser's of a report's file.
 *
 * A reviewer's word goes out when it is given and the note when it is left: nothing is
 * overwritten there, so not with each letter. */

import { count, json, make, time, words } from "/web/api.js";

/** See review.js. */
export async function serverKeeper(path, claims, passages, reviewer) {
  let all = [];
  const agreement = make("span", { class: "quiet", id: "agreement", role: "status" });
  const load = async () => {
    const found = await json(`${path}/reviews`);
    all = found.reviews;
    agreement.textContent = inWords(found.agreement);
  };
  const ofClaim = (claim) => all.filter((review) => review.claim === claim.id);
  const latest = (claim) => [...new Map(ofClaim(claim).map((review) => [review.reviewer, review])).values()];
  await load();
  return {
    noteOn: "change",
    read() {
      const own = claims.map((claim) => [claim, latest(claim).find((review) => review.reviewer === reviewer)]).filter(([, review]) => review);
      find("#reviewer").readOnly = true;
      find("#kept").textContent = "kept on the server";
      find(".reviewer").append(agreement);
      return { reviewer, claims: Object.fromEntries(own.map(([claim, review]) => [claim.atom, entryOf(claim, review)])) };
    },
    async write(review, claim) {
      const entry = review.claims[claim.atom];
      if (!entry.verdict) return "not kept yet: give your verdict on the claim, too";
      const labels = Object.entries(entry.evidence).filter(([, label]) => label);
      const evidence = Object.fromEntries(labels.map(([position, label]) => [passageOf(claim, position), label]));
      const body = { verdict: entry.verdict, reason: entry.note ?? "", evidence };
      await json(`${path}/claims/${encodeURIComponent(claim.id)}/review`, { method: "POST", body });
      await load();
      return `kept on the server at ${new Date().toLocaleTimeString()}`;
    },
    /** What others' words on a claim come to; they themselves are in the claim, closed. */
    beside(claim) {
      const found = latest(claim);
      const others = found.filter((review) => review.reviewer !== reviewer).length;
      if (!others) return "";
      const alike = new Set(found.map((review) => review.verdict)).size === 1;
      return `${count(others, "other")}${found.length > 1 ? `, ${alike ? "agreed" : "disputed"}` : ""}`;
    },
    history(claim) {
      const found = ofClaim(claim).filter((review) => review.reviewer !== reviewer);
      if (!found.length) return "";
      const said = found.map((review) =>
        make("li", {}, make("strong", {}, review.reviewer), ` ${words(review.verdict)} `, make("span", { class: "quiet" }, time(review.at)), review.reason ? make("p", {}, review.reason) : ""),
      );
      return make("details", { class: "others" }, make("summary", {}, `What ${count(new Set(found.map((review) => review.reviewer)).size, "other reviewer says", "other reviewers say")}`), make("ol", {}, said));
    },
  };

  /** The id of the passage at a position of a claim's evidence. */
  function passageOf(claim, position) {
    return passages[claim.evidence[position][0]].id;
  }

  function entryOf(claim, { verdict, reason, at, evidence }) {
    const labels = Object.keys(claim.evidence).map((position) => [position, evidence[passageOf(claim, position)]]);
    return { verdict, note: reason, at: new Date(1000 * at).toISOString(), evidence: Object.fromEntries(labels) };
  }
}

function inWords({ claims, agreed, judged, as_run: asRun }) {
  if (!judged) return "";
  const each = claims ? `Reviewers agree on ${agreed} of ${count(claims, "claim")}. ` : "";
  return `${each}The run says the same as ${asRun} of ${count(judged, "verdict")} of reviewers.`;
}
