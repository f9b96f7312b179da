// The interactive parts of a page. Text is never inserted as HTML, as names may be anything.
(() => {
  "use strict";

  const SHOWN = 20; // users at first, and on paper
  const MORE = 100;

  const make = (tag, traits = {}, ...inside) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(traits)) {
      if (name === "class") element.className = value;
      else element.setAttribute(name, value);
    }
    element.append(...inside);
    return element;
  };
  const bdi = (text) => make("bdi", {}, text);
  const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

  // ---- charts

  const tip = make("div", { class: "tip", "aria-hidden": "true", hidden: "" });
  document.body.append(tip);

  const showTip = (_, event, __, value) => {
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    const lines = typeof value === "object" ? Object.entries(value) : [["", value]];
    tip.replaceChildren(
      ...lines.map(([name, value]) =>
        make("div", {}, make("span", {}, name), make("span", {}, bdi(String(value))))),
    );
    const room = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, window.innerWidth - room.width - 8);
    const below = event.clientY + 16;
    const fits = below + room.height < window.innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${fits ? below : Math.max(8, event.clientY - room.height - 12)}px`;
  };

  // Vega does not wrap titles; a narrow page needs that.
  const wrapped = (text, room) => {
    if (typeof text !== "string") return text;
    const lines = [""];
    for (const word of text.split(" ")) {
      const longer = `${lines[lines.length - 1]} ${word}`.trim();
      if (longer.length * 6.6 > room && lines[lines.length - 1]) lines.push(word);
      else lines[lines.length - 1] = longer;
    }
    return lines.length > 1 ? lines : text;
  };
  const fit = (spec, width) => {
    for (const layer of spec.layer || [spec]) {
      for (const { legend } of Object.values(layer.encoding || {})) {
        if (legend && legend.columns > 1) {
          legend.columns = width < 560 ? 1 : legend.columns;
          legend.labelLimit = (width - 90) / legend.columns - 30;
        }
      }
      for (const [name, room] of [["x", width - 80], ["y", spec.height - 10]]) {
        const channel = layer.encoding && layer.encoding[name];
        if (channel && channel.axis) {
          channel.axis.title = wrapped(channel.axis.title ?? channel.title ?? null, room);
        }
      }
    }
  };

  const look = (width) => {
    const text = { labelColor: "var(--soft)", titleColor: "var(--soft)", titleFontWeight: 400 };
    return {
      background: null,
      font: getComputedStyle(document.body).fontFamily,
      view: { stroke: null },
      title: { color: "var(--ink)", fontSize: 13, fontWeight: 600, anchor: "start", limit: width },
      axis: { ...text, titlePadding: 10 },
      axisY: { labelLimit: Math.max(70, Math.min(240, width * 0.28)) },
      legend: {
        ...text,
        labelLimit: width - 90,
        layout: { top: { direction: width < 560 ? "vertical" : "horizontal" } },
      },
      text: { color: "var(--ink)" },
      rule: { color: "var(--ink)" },
    };
  };

  // Move a name back that is too long for the room at its point.
  const keepInside = (svg) => {
    const frame = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll(".mark-text.role-mark text")) {
      const box = text.getBoundingClientRect();
      const over = Math.max(box.right - frame.right, 0) || Math.min(box.left - frame.left, 0);
      if (over) text.style.translate = `${-over}px`;
    }
  };

  // Keep the shown models of a chart of models.
  let isShown = () => true;
  const filterModels = (spec) => {
    for (const [name, rows] of Object.entries(spec.datasets)) {
      spec.datasets[name] = rows.filter((row) => !("model" in row) || isShown(row.model));
    }
    for (const { encoding } of spec.layer) {
      const domain = encoding.y?.field === "model" && encoding.y.scale.domain;
      if (domain) {
        encoding.y.scale.domain = domain.filter(isShown);
        spec.height = Math.max(2, encoding.y.scale.domain.length) * 18;
      }
    }
  };

  const drawings = [];
  for (const figure of document.querySelectorAll("figure.chart")) {
    const box = figure.querySelector(".drawing");
    const text = figure.querySelector("script.spec").textContent;
    drawings.push({ box, text, width: 0, view: null });
  }

  const draw = async (one) => {
    // folded charts have no width yet, and may be printed before they have
    const room = one.box.clientWidth || Math.min(736, document.querySelector("main").clientWidth);
    const width = Math.floor(room);
    if (!width || width === one.width || !window.recsysDraw) return;
    one.width = width;
    const spec = JSON.parse(one.text);
    if (one.box.closest(".choice")) filterModels(spec);
    spec.width = width;
    spec.autosize = { type: "fit-x", contains: "padding" };
    spec.padding = { left: 0, right: 6, top: 4, bottom: 6 };
    fit(spec, width);
    const old = one.view;
    // Vega sets roles inside the drawing; only the role and the name of the box count.
    const inside = make("div", { "aria-hidden": "true" });
    one.view = await window.recsysDraw(inside, spec, {
      renderer: "svg",
      ast: true,
      actions: false,
      defaultStyle: false,
      tooltip: showTip,
      config: look(width),
    });
    one.box.replaceChildren(inside);
    if (old) old.finalize();
    keepInside(inside.querySelector("svg"));
  };

  let waiting = Promise.resolve();
  const drawLater = (one) => {
    waiting = waiting.then(() => draw(one)).catch((error) => console.error(error));
  };
  const watch = new ResizeObserver((seen) => {
    for (const { target } of seen) drawLater(drawings.find((one) => one.box === target));
  });
  for (const one of drawings) {
    watch.observe(one.box);
    drawLater(one);
  }

  // ---- copying

  for (const block of document.querySelectorAll(".code")) {
    const code = block.querySelector("code");
    const button = make("button", { type: "button", class: "plain" }, "Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.append(button);
  }

  // ---- users

  // Format the numbers of a column with the decimals that one of them needs, up to four.
  const numbers = (values) => {
    const known = values.filter((value) => value !== null);
    const digits = [0, 1, 2, 3].find((some) =>
      known.every((value) => Math.abs(value - Number(value.toFixed(some))) < 5e-5)) ?? 4;
    return values.map((value) => {
      if (value === null) return "-";
      return Math.abs(value) < 1e9 ? value.toFixed(digits) : value.toPrecision(6);
    });
  };

  const SIDE = { item: "item", estimated: "estimate", true: "grade", gain: "gain" };

  // A list is {item: [...], gain: [...], ...}, with the columns that a page shows.
  const sideOf = (lists, name, list) => {
    const columns = Object.keys(list).filter((one) => one in SIDE);
    const ranks = list.gain.length;
    const texts = Object.fromEntries(columns.map((one) => [one, one === "item"
      ? list.item.map((value) => (value === null ? "-" : lists.items[value]))
      : numbers(list[one])]));
    let dcg = 0;
    const body = make("tbody");
    for (let rank = 0; rank < ranks; rank += 1) {
      dcg += list.gain[rank] * lists.weights[rank];
      const row = make("tr", {}, make("th", { scope: "row" }, String(rank + 1)));
      for (const column of columns) {
        const text = texts[column][rank];
        row.append(column === "item"
          ? make("td", { class: "left" }, bdi(text))
          : make("td", {}, text));
      }
      row.append(make("td", {}, dcg.toFixed(4)));
      body.append(row);
    }
    const heads = columns.map((one) =>
      make("th", { scope: "col", ...(one === "item" ? { class: "left" } : {}) }, SIDE[one]));
    return make("table", {},
      make("caption", {}, bdi(name)),
      make("thead", {}, make("tr", {},
        make("th", { scope: "col" }, "rank"), ...heads, make("th", { scope: "col" }, "DCG"))),
      body);
  };

  const keyOf = (text) => {
    const plain = text.trim();
    return plain === "" || plain === "-" ? null : plain;
  };
  const compared = (one, other) => {
    const [a, b] = [Number(one), Number(other)];
    if (!Number.isNaN(a) && !Number.isNaN(b)) return a - b;
    return one.localeCompare(other, "en", { numeric: true });
  };

  const enliven = (place, block) => {
    const table = block.querySelector("table.sortable");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row, at) => ({
      row,
      at,
      cells: [...row.cells].map((cell) => keyOf(cell.textContent)),
      found: row.cells[0].textContent.toLowerCase(),
      opened: null,
    }));
    const source = block.querySelector("script.lists");
    const lists = source && JSON.parse(source.textContent);
    let order = rows;
    let limit = SHOWN;
    let wanted = "";

    const id = `users-${place}`;
    const field = make("input", {
      type: "search", id, autocomplete: "off", spellcheck: "false", dir: "auto",
    });
    const status = make("p", { class: "status", role: "status", "aria-live": "polite" });
    const more = make("button", { type: "button", class: "plain more" });

    const show = () => {
      const matching = order.filter((one) => one.found.includes(wanted));
      const shown = new Set(matching.slice(0, limit));
      const inOrder = [];
      for (const one of order) {
        one.row.hidden = !shown.has(one);
        inOrder.push(one.row);
        if (one.opened) {
          one.opened.hidden = one.row.hidden;
          inOrder.push(one.opened);
        }
      }
      body.append(...inOrder);
      const left = matching.length - shown.size;
      more.hidden = !left;
      more.textContent = `Show ${Math.min(left, MORE)} more of ${left.toLocaleString("en")}`;
      const verb = matching.length === 1 ? "matches" : "match";
      status.textContent = wanted
        ? `${count(matching.length, "user")} of ${rows.length.toLocaleString("en")} ${verb}.`
        : `${count(rows.length, "user")}, ${shown.size} shown.`;
    };

    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = make("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const first = column ? "descending" : "ascending";
        const second = column ? "ascending" : "descending";
        const way = head.getAttribute("aria-sort") === first ? second : first;
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", way);
        const sign = way === "ascending" ? 1 : -1;
        order = [...rows].sort((one, other) => {
          const [a, b] = [one.cells[column], other.cells[column]];
          if (a === null || b === null) return (a === null) - (b === null) || one.at - other.at;
          return sign * compared(a, b) || one.at - other.at;
        });
        show();
      });
    });

    const open = (one, button) => {
      const opened = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!opened));
      if (opened) {
        one.opened.remove();
        one.opened = null;
        return;
      }
      const sides = make("div", { class: "sides" });
      lists.names.forEach((name, side) => {
        const list = Object.fromEntries(lists.columns[side].map(
          (column, which) => [column, lists.users[one.at][side][which]]));
        sides.append(sideOf(lists, name, list));
      });
      one.opened = make("tr", { class: "lists", id: `${id}-${one.at}` },
        make("td", { colspan: one.row.cells.length }, sides));
      one.row.after(one.opened);
    };
    for (const one of lists ? rows.slice(0, lists.users.length) : []) {
      const head = one.row.cells[0];
      const button = make("button", {
        type: "button", "aria-expanded": "false", "aria-controls": `${id}-${one.at}`,
      }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => open(one, button));
    }

    field.addEventListener("input", () => {
      wanted = field.value.trim().toLowerCase();
      limit = SHOWN;
      show();
    });
    more.addEventListener("click", () => {
      limit += MORE;
      show();
    });
    block.prepend(make("div", { class: "search" },
      make("label", { for: id }, "Find a user"), field, status));
    block.append(more);
    show();
  };
  document.querySelectorAll(".users").forEach((block, place) => enliven(place, block));

  // ---- choices

  for (const choice of document.querySelectorAll(".choice")) {
    const options = [...choice.children];
    const bar = make("div", { class: "bar", role: "group", "aria-label": choice.dataset.title });
    const buttons = options.length < 2 ? [] : options.map((option) => {
      const button = make("button", { type: "button", class: "plain" }, bdi(option.firstElementChild.textContent));
      button.addEventListener("click", () => choose(option));
      return button;
    });
    const choose = (chosen) => options.forEach((option, place) => {
      option.classList.toggle("off", option !== chosen);
      buttons[place]?.setAttribute("aria-pressed", String(option === chosen));
    });
    bar.append(...buttons);
    choice.before(bar);
    choice.classList.add("live");
    choose(options[0]);
  }

  // ---- filter of models

  const headsOf = (table) => [...table.tHead.rows[0].cells];
  const modelTables = [...document.querySelectorAll(".scroll > table:not(.sortable)")]
    .map((table) => [table, headsOf(table).flatMap((head, place) =>
      (["model", "a", "b"].includes(head.textContent) ? [place] : []))])
    .filter(([, places]) => places.length);
  const bar = document.querySelector(".bar");
  if (bar) {
    const field = make("input", {
      type: "search", id: "model-filter", autocomplete: "off", spellcheck: "false", dir: "auto",
    });
    const status = make("span", { class: "status", role: "status", "aria-live": "polite" });
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase().split(",").map((one) => one.trim()).filter(Boolean);
      isShown = (name) => !wanted.length || wanted.some((one) => name.toLowerCase().includes(one));
      const counts = modelTables.map(([table, places]) => [...table.tBodies[0].rows].filter((row) => {
        row.hidden = !places.some((place) => isShown(row.cells[place].textContent));
        return !row.hidden;
      }).length);
      const all = modelTables[0][0].tBodies[0].rows.length;
      status.textContent = wanted.length ? `${counts[0]} of ${count(all, "model")}` : "";
      for (const one of drawings) {
        one.width = 0;
        drawLater(one);
      }
    });
    bar.append(make("div", { class: "search" },
      status, make("label", { for: "model-filter" }, "Filter models"), field));
  }

  // ---- tables as CSV

  // A spreadsheet would run a text that begins like a formula.
  const guard = (text) => (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);
  const quote = (text) => (/[",;\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const parts = (cell) => {
    const small = cell.querySelector("small")?.textContent ?? "";
    const text = cell.textContent.slice(0, cell.textContent.length - small.length).trim();
    return [text === "-" ? "" : text, small];
  };
  const endsOf = (text) => text.match(/[+-]?\d[\d.]*(?:e[+-]?\d+)?/g) ?? [];
  const toCsv = (table) => {
    const rows = [...table.tBodies[0].rows].filter((row) => !row.matches(".lists"));
    const lines = [[], ...rows.map(() => [])];
    headsOf(table).forEach((head, place) => {
      const [name, level] = parts(head);
      const cells = rows.map((row) => parts(row.cells[place]));
      const columns = level
        ? [[name, ([text]) => text], [`${name} ${level} low`, ([, small]) => endsOf(small)[0] ?? ""],
          [`${name} ${level} high`, ([, small]) => endsOf(small)[1] ?? ""]]
        : [[name, ([text]) => text]];
      for (const [heading, read] of columns) {
        [heading, ...cells.map(read)].forEach((text, line) => lines[line].push(quote(guard(text))));
      }
    });
    return `${lines.map((line) => line.join(",")).join("\r\n")}\r\n`;
  };
  for (const table of document.querySelectorAll(".scroll > table")) {
    const name = table.caption.textContent.split(",")[0];
    const button = make("button", {
      type: "button", class: "plain csv", "aria-label": `CSV: ${name}`,
    }, "CSV");
    button.addEventListener("click", () => {
      const url = URL.createObjectURL(new Blob([toCsv(table)], { type: "text/csv" }));
      make("a", { href: url, download: `${name.replace(/[^\p{L}\p{N}@.]+/gu, "-")}.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    });
    table.parentElement.after(button);
  }

  // ---- paper

  const folded = [];
  window.addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open])")) {
      one.open = true;
      folded.push(one);
    }
  });
  window.addEventListener("afterprint", () => {
    folded.splice(0).forEach((one) => { one.open = false; });
  });
})();
