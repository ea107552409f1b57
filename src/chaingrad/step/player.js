(() => {
  "use strict";
  const ICONS = {
    play: "M4 2l10 6-10 6z",
    pause: "M3 2h4v12H3zM9 2h4v12H9z",
    back: "M12 2v12L4 8zM2 2h2v12H2z",
    next: "M4 2v12l8-6zM12 2h2v12h-2z",
  };
  const icon = (name) =>
    `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
  const SVG = "http://www.w3.org/2000/svg";
  const BEAT = 1400; // milliseconds that a step stays at normal speed

  const make = (tag, attributes = {}, markup = "") => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.innerHTML = markup;
    return element;
  };

  const start = (root) => {
    const { label, phases, start: before, steps } = JSON.parse(
      root.querySelector("script").textContent,
    );
    const last = steps.length - 1;
    const firsts = phases.map((_, i) => steps.findIndex((step) => step[0] === i));

    // --- the parts
    const live = make("div", { class: "cg-live" });
    const top = make("div", { class: "cg-bar cg-top" });
    const jumps = phases.map((phase, i) => {
      const button = make("button", { type: "button" }, phase);
      button.addEventListener("click", () => (pause(), show(firsts[i])));
      top.append(button);
      return button;
    });
    if (phases.includes("Backward")) {
      top.append(
        make(
          "div",
          { class: "cg-legend" },
          '<span class="l">local gradient</span><span class="g">global gradient</span>',
        ),
      );
    }
    const stage = make("div", {
      class: "cg-scroll",
      tabindex: "0",
      role: "group",
      "aria-label": "Graph. Left and right arrow: one step. Space: play or pause.",
    });
    const words = make("p", { class: "cg-words", "aria-live": "polite", "aria-atomic": "true" });
    // The words of all steps lie unseen in the place of the shown ones, so that it fits each.
    const all = steps.map((step) => make("p", { "aria-hidden": "true" }, step[1]));
    const place = make("div", { class: "cg-place" });
    place.append(...all, words);
    const bar = make("div", { class: "cg-bar" });
    const button = (name, text, act) => {
      const made = make("button", { type: "button", "aria-label": text, title: text }, icon(name));
      made.addEventListener("click", act);
      return made;
    };
    const back = button("back", "One step back", () => (pause(), show(at - 1)));
    const next = button("next", "One step forward", () => (pause(), show(at + 1)));
    const toggle = button("play", "Play", () => (timer ? pause() : play()));
    toggle.classList.add("cg-play");
    const slider = make("input", {
      type: "range",
      min: "0",
      max: String(last),
      value: "0",
      "aria-label": "Step",
    });
    slider.addEventListener("input", () => (pause(), show(+slider.value)));
    const count = make("span", { class: "cg-count" });
    count.style.minWidth = `${2 * String(steps.length).length + 2}ch`; // the bar stays as it is
    const speed = make(
      "select",
      { "aria-label": "Speed" },
      [0.5, 1, 2, 4]
        .map((x) => `<option value="${x}"${x === 1 ? " selected" : ""}>${x}×</option>`)
        .join(""),
    );
    bar.append(back, toggle, next, slider, count, speed);
    const details = make("details", {}, "<summary>Details: sums, arrays, long names</summary>");
    const entries = make("div", {
      class: "cg-entries",
      tabindex: "0", // it scrolls on a phone
      role: "group",
      "aria-label": "Details of this step",
    });
    details.append(entries);
    live.append(...(phases.length > 1 ? [top] : []), stage, place, bar);
    if (steps.some((step) => step[5].length)) live.append(details);

    // --- the drawings: one is shown, all are kept up to date
    const read = (svg) => {
      svg.setAttribute("aria-label", label);
      const [width, height] = ["width", "height"].map((name) => +svg.getAttribute(name));
      const least = parseFloat(svg.style.minWidth) / width; // at which its type can be read
      svg.style.cssText = "";
      const nodes = {};
      for (const group of svg.querySelectorAll("g[data-node]")) {
        const slots = { group };
        for (const text of group.querySelectorAll("[data-slot]")) slots[text.dataset.slot] = text;
        nodes[group.dataset.node] = slots;
      }
      const edges = {};
      for (const group of svg.querySelectorAll("g[data-from]")) {
        const key = `${group.dataset.from} ${group.dataset.to}`;
        (edges[key] ||= []).push(group);
      }
      return { svg, width, height, least, nodes, edges };
    };
    const frames = root.querySelectorAll(".cg-frames svg.chaingrad");
    const others = root.querySelector("template").content.querySelectorAll("svg");
    const drawings = [frames[frames.length - 1], ...others].map((svg) => read(svg.cloneNode(true)));
    let shows = drawings[0];
    stage.append(shows.svg);
    const dot = document.createElementNS(SVG, "circle");
    dot.setAttribute("class", "cg-dot");
    dot.setAttribute("r", "6");
    const carries = document.createElementNS(SVG, "text");
    carries.setAttribute("class", "cg-carries");

    const shown = {};
    const put = (node, slot, text) => {
      const key = `${node} ${slot}`;
      if (shown[key] === text) return;
      shown[key] = text;
      for (const { nodes } of drawings) {
        if (slot === "state" && nodes[node]) nodes[node].group.dataset.state = text;
        else if (nodes[node]?.[slot]) nodes[node][slot].textContent = text;
      }
    };
    const state = (k) => {
      const values = {};
      for (const [node, slot, text] of before) values[`${node} ${slot}`] = text;
      for (let i = 0; i <= k; i++) {
        for (const [node, slot, text] of steps[i][4]) values[`${node} ${slot}`] = text;
      }
      return values;
    };

    const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
    let frame = 0;
    const travel = (path) => {
      // the dot runs from the child back to the parent, against the arrow
      const length = path.getTotalLength();
      const long = Math.min(700, (BEAT / +speed.value) * 0.6);
      const began = performance.now();
      const move = (now) => {
        const part = Math.min(1, Math.max(0, (now - began) / long));
        const { x, y } = path.getPointAtLength(length * (1 - part));
        dot.setAttribute("cx", x);
        dot.setAttribute("cy", y);
        if (part < 1) frame = requestAnimationFrame(move);
        else dot.remove();
      };
      path.parentNode.parentNode.append(dot);
      move(began);
    };

    const mark = (step) => {
      cancelAnimationFrame(frame);
      dot.remove();
      carries.remove();
      const { svg, nodes, edges } = shows;
      for (const group of svg.querySelectorAll(".cg-on")) group.classList.remove("cg-on");
      for (const node of step[2]) nodes[node]?.group.classList.add("cg-on");
      if (!step[3]) return;
      const [parent, child, which, above, local] = step[3];
      const edge = (edges[`${parent} ${child}`] || [])[which];
      if (!edge) return;
      edge.classList.add("cg-on");
      const path = edge.querySelector("path");
      if (above) {
        const { x, y } = path.getPointAtLength(path.getTotalLength() / 2);
        const below = shows === drawings[0] ? `x="${x}" y="${y + 14}"` : ""; // or in one line
        carries.innerHTML =
          `<tspan class="g" x="${x}" y="${y + (below ? -6 : 4)}">${above} </tspan>` +
          `<tspan class="l" ${below}>× ${local}</tspan>`;
        edge.parentNode.append(carries);
      }
      if (!calm()) travel(path);
    };

    const reveal = (step) => {
      // keep what happens in sight where the drawing is wider than its place
      const view = stage.getBoundingClientRect();
      if (stage.scrollWidth <= stage.clientWidth && stage.scrollHeight <= stage.clientHeight) return;
      const boxes = step[2].map((node) => shows.nodes[node].group.getBoundingClientRect());
      const off = (low, high, size) => {
        const from = Math.min(...boxes.map((box) => box[low])) - view[low];
        const room = view[size] - (Math.max(...boxes.map((box) => box[high])) - view[low] - from);
        return from - Math.max(12, room / 2); // in the middle, or from where it begins
      };
      stage.scrollBy({
        left: off("left", "right", "width"),
        top: off("top", "bottom", "height"),
        behavior: calm() ? "auto" : "smooth",
      });
    };

    // --- the place: the drawing that fits, with the words and the controls in view
    const framed = window !== window.top; // a frame may be as high as what it holds
    let room = "";
    const fit = () => {
      const page = document.scrollingElement || document.documentElement;
      const view = framed ? screen.availHeight * 0.8 : page.clientHeight;
      const style = getComputedStyle(stage);
      const sum = (...names) => names.reduce((total, name) => total + parseFloat(style[name]), 0);
      const width = stage.clientWidth - sum("paddingLeft", "paddingRight");
      const above = parseFloat(getComputedStyle(page).scrollPaddingTop) || 0; // a fixed header
      const rest = [top, place, bar, details.firstChild].map((part) => part.offsetHeight);
      const padding = sum("paddingTop", "paddingBottom");
      const height = view - above - rest.reduce((a, b) => a + b) - padding - 12;
      if (!stage.clientWidth || room === `${width} ${height}`) return;
      room = `${width} ${height}`;
      const scale = (drawing) =>
        Math.min(1, width / drawing.width, height / drawing.height) / drawing.least;
      const best = [...drawings].sort((a, b) => scale(b) - scale(a))[0];
      const next = drawings.find((drawing) => scale(drawing) >= 1) || best; // the first that fits
      if (next !== shows) {
        shows = next;
        stage.replaceChildren(shows.svg);
      }
      const size = Math.max(1, scale(shows)) * shows.least; // smaller could not be read: it scrolls
      shows.svg.style.width = `${shows.width * size}px`;
      shows.svg.style.height = `${shows.height * size}px`;
      stage.style.maxHeight = `${Math.max(height, 240) + padding}px`;
      if (at >= 0) mark(steps[at]);
    };

    // --- playing
    let at = -1;
    let timer = 0;
    const show = (k) => {
      const now = Math.max(0, Math.min(last, k));
      if (now === at) return;
      at = now;
      const step = steps[at];
      for (const [key, text] of Object.entries(state(at))) put(...key.split(" "), text);
      mark(step);
      reveal(step);
      words.innerHTML = step[1];
      slider.value = at;
      slider.setAttribute("aria-valuetext", `${at + 1} of ${last + 1}, ${phases[step[0]]}`);
      count.textContent = `${at + 1} / ${last + 1}`;
      back.disabled = at === 0;
      next.disabled = at === last;
      jumps.forEach((jump, i) => {
        if (i === step[0]) jump.setAttribute("aria-current", "step");
        else jump.removeAttribute("aria-current");
      });
      entries.replaceChildren(
        ...step[5].map(([title, text]) => {
          const box = make("div", {}, `<div>${title}</div>`);
          const pre = make("pre");
          pre.textContent = text;
          box.append(pre);
          return box;
        }),
      );
      if (!step[5].length) entries.textContent = "The line above says all of this step.";
    };
    const face = (name, text) => {
      toggle.innerHTML = icon(name);
      toggle.setAttribute("aria-label", text);
      toggle.title = text;
    };
    const pause = () => {
      clearTimeout(timer);
      timer = 0;
      face("play", "Play");
    };
    const play = () => {
      if (at === last) show(0);
      face("pause", "Pause");
      const tick = () => {
        timer = setTimeout(() => {
          if (!root.isConnected) return;
          show(at + 1);
          if (at === last) pause();
          else tick();
        }, BEAT / +speed.value);
      };
      tick();
    };
    root.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const own = event.target.closest("button, select, summary, input, pre");
      const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
      if (event.key in moves && !event.target.closest("select, input, .cg-entries")) {
        pause();
        show(moves[event.key]);
      } else if (event.key === " " && (!own || own === slider)) {
        if (timer) pause();
        else play();
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation(); // a notebook has its own use for these keys
    });

    root.querySelector("script").before(live);
    root.dataset.ready = "";
    fit();
    show(0);
    new ResizeObserver(fit).observe(root);
    window.addEventListener("resize", fit);
  };

  for (const root of document.querySelectorAll(".chaingrad-player:not([data-ready])")) start(root);
})();
