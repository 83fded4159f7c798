// Draws everything there is, and again when width or colours change.
(() => {
  const { subjects } = JSON.parse(document.getElementById("data").textContent);
  const draw = (id, make) => {
    if (document.getElementById(id)) new Figure(id, make(subjects));
  };
  draw("slowdown", Curves.slowdown);
  draw("hits", Curves.hits);
  draw("moves", Curves.moves);
  draw("ranked", Curves.rates);
  draw("t-memory", Over.memory);
  draw("t-accesses", Over.accesses);
  draw("t-hits", Over.hits);
  draw("t-moves", Over.moves);
  subjects.forEach((subject, index) => subject.plan.policies.forEach((policy, at) => {
    if (!policy.decisions) return;
    draw(`choice-${index}-${at}`, () => Over.choice(subject, policy.decisions));
    draw(`told-${index}-${at}`, () => Over.told(subject, policy.decisions));
  }));
  Wide.attach();
  const scale = Heat.scale(subjects);
  subjects.forEach((subject, index) => new Heat(`heat-${index}`, subject, scale));

  let width = document.body.clientWidth;
  new ResizeObserver(() => {
    if (document.body.clientWidth === width) return;
    width = document.body.clientWidth;
    Figures.forEach((figure) => figure.resize());
  }).observe(document.body);
  Theme.onChange(() => Figures.forEach((figure) => {
    figure.draw();
    figure.resize();
  }));

  document.getElementById("save").addEventListener("click", () => {
    const text = document.getElementById("data").textContent;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "pagetide-plan.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  document.documentElement.dataset.ready = String(Figures.length);
})();
