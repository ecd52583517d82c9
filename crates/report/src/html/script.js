// What a report's pages do beside standing there: rows are filtered, folds are opened, and keys lead on. Every fact is on the page without
// this file. It reads what the page says by attributes, writes no markup, and loads nothing.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Filters: each row has short words for what it is; chosen words must all be among them. They stand in the address, so that a
  // link can choose them: #p3+t1
  const box = document.querySelector(".filters");
  if (box) {
    const rows = all("tr[data-k]").map((row) => ({ row, words: new Set(row.dataset.k.split(" ")), text: row.textContent.toLowerCase() }));
    const selects = all("select[data-filter]", box);
    const search = box.querySelector("[data-search]");
    const count = box.querySelector("output");
    const apply = () => {
      const chosen = selects.map((select) => select.value).filter(Boolean);
      const wanted = search.value.trim().toLowerCase();
      let shown = 0;
      for (const { row, words, text } of rows) {
        const fits = chosen.every((word) => words.has(word)) && text.includes(wanted);
        row.hidden = !fits;
        shown += fits ? 1 : 0;
      }
      count.textContent = `${shown} of ${rows.length} tasks`;
      return chosen;
    };
    const fromAddress = () => {
      const words = location.hash.slice(1).split("+").filter((word) => /^[a-z]\d+$/.test(word));
      if (words.length === 0) return apply();
      for (const select of selects) {
        const word = words.find((word) => word[0] === select.dataset.filter);
        select.value = word && [...select.options].some((option) => option.value === word) ? word : "";
      }
      apply();
      document.getElementById("matrix")?.scrollIntoView();
    };
    const choose = () => {
      const chosen = apply();
      location.replace(`#${chosen.join("+") || "matrix"}`);
    };
    box.hidden = false;
    selects.forEach((select) => select.addEventListener("change", choose));
    search.addEventListener("input", apply);
    box.querySelector("[data-reset]").addEventListener("click", () => {
      selects.forEach((select) => { select.value = ""; });
      search.value = "";
      choose();
    });
    addEventListener("hashchange", fromAddress);
    fromAddress();
  }

  // What an address names is opened with all folds around it.
  const open = () => {
    const named = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!named) return;
    for (let at = named; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    all(":scope > details", named).forEach((fold) => { fold.open = true; });
  };
  addEventListener("hashchange", open);
  try { open(); } catch { /* An address that is no text names nothing. */ }

  // Conversations get two buttons: fold all, and only what was refused.
  const said = document.querySelector("ol.said");
  if (said) {
    const bar = document.createElement("p");
    bar.className = "bar";
    const button = (label, press) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = label;
      made.setAttribute("aria-pressed", "false");
      made.addEventListener("click", () => {
        const isOn = made.getAttribute("aria-pressed") !== "true";
        made.setAttribute("aria-pressed", String(isOn));
        press(isOn);
      });
      bar.append(made, " ");
    };
    button("Open all", (isOn) => all("details", said).forEach((fold) => { fold.open = isOn; }));
    if (said.querySelector("li.refused")) {
      button("Only refused calls", (isOn) => all(":scope > li", said).forEach((line) => {
        line.hidden = isOn && !line.classList.contains("refused");
      }));
    }
    said.before(bar);
  }

  // Keys: n and p go to the page after and before, / to the search, i to the index.
  addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = { n: "a[rel=next]", p: "a[rel=prev]", i: ".crumbs a" }[event.key];
    if (to) document.querySelector(to)?.click();
    if (event.key === "/") {
      const search = document.querySelector("[data-search]");
      if (search) { search.focus(); event.preventDefault(); }
    }
  });
})();
