/* Sliders for the priors of sources, and the claims' probabilities as they would be. */

function startSources(model) {
  const sliders = findAll("input[data-source]");
  const changed = new Map();
  const show = () => showOutcomes(model, changed);
  for (const slider of sliders) {
    slider.addEventListener("input", () => {
      changed.set(Number(slider.dataset.source), Number(slider.value));
      slider.nextElementSibling.textContent = Number(slider.value).toFixed(2);
      show();
    });
  }
  find("#reset").addEventListener("click", () => {
    changed.clear();
    for (const slider of sliders) {
      slider.value = slider.defaultValue;
      slider.nextElementSibling.textContent = "as in the report";
    }
    show();
  });
}

function showOutcomes(model, changed) {
  const p = posteriors(model, changed);
  const byAtom = new Map(model.variables.map((variable, v) => [variable.atom, p[v]]));
  let crossed = 0;
  for (const item of findAll("li[data-atom]")) {
    const before = Number(find("data", item).value);
    // Nothing that could change bears on a claim that the model does not have.
    const now = byAtom.get(Number(item.dataset.atom)) ?? before;
    const output = find("output", item);
    output.textContent = percent(now);
    output.dataset.value = now;
    item.classList.toggle("moved", percent(now) !== percent(before));
    item.classList.toggle("crossed", side(now) !== side(before));
    crossed += side(now) !== side(before);
  }
  const said = crossed === 1 ? "1 claim crosses" : `${crossed} claims cross`;
  find("#crossings").textContent = changed.size ? `${said} 50 %` : "nothing is changed";
}

/** On which side of ½; what rounding leaves of exactly ½ is on neither. */
const side = (p) => (Math.abs(p - 0.5) < 1e-9 ? 0 : Math.sign(p - 0.5));
