"use strict";
/* Filters by suite, engine, status and text; ages that stay true while the page lies somewhere. */

(function ages() {
  const minute = 60000;
  for (const each of document.querySelectorAll("time.age")) {
    const minutes = Math.floor((Date.now() - Date.parse(each.dateTime)) / minute);
    if (Number.isNaN(minutes)) continue;
    if (minutes < 1) each.textContent = "just now";
    else if (minutes < 60) each.textContent = `${minutes} min`;
    else if (minutes < 48 * 60) each.textContent = `${Math.floor(minutes / 60)} h`;
    else each.textContent = `${Math.floor(minutes / 1440).toLocaleString("en")} days`;
  }
})();

(function filters() {
  const bar = document.getElementById("filters");
  if (!bar) return;
  const controls = [...bar.querySelectorAll("[data-filter]")];
  const marked = [...document.querySelectorAll("[data-status]")].map((mark) => {
    const whole = mark.closest("tr") || mark;
    return { mark, whole, text: whole.textContent.toLowerCase() };
  });
  const suites = marked.filter((each) => each.whole.tagName === "SECTION");

  function matches(each) {
    return controls.every((control) => {
      if (!control.value) return true;
      if (control.dataset.filter === "text") return each.text.includes(control.value.toLowerCase());
      return each.mark.dataset[control.dataset.filter].split("\n").includes(control.value);
    });
  }

  function apply() {
    for (const each of marked) each.whole.hidden = !matches(each);
    const visible = suites.filter((each) => !each.whole.hidden).length;
    document.getElementById("shown").textContent = `${visible} of ${suites.length} suites`;
  }

  for (const control of controls) control.addEventListener("input", apply);
  bar.hidden = false;
  apply();
})();
