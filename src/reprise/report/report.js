"use strict";
// One view at a time: the one that holds what the address names. Without this script all views stand below one another.
// A paper that has a page of its own holds no list of claims found: report.html does.
const form = document.querySelector("form");
const views = [...document.querySelectorAll(".view")];
const claims = [...document.querySelectorAll(".claim")];
const figures = [...document.querySelectorAll("figure[id]")];
const results = document.getElementById("results");
const output = document.querySelector("output");
const verdicts = [...form.elements.verdict.options].map(option => option.text);
const grounds = [...form.elements.ground.options].map(option => option.text);
// Where each claim stands in its paper, so that it can return there after a search.
const homes = new Map(claims.map(claim => [claim, claim.parentElement]));
const texts = new Map(claims.map(claim => [claim, words(`${claim.id} ${claim.querySelector(".s").textContent} ${claim.querySelector(".id").textContent}`)]));

function words(text) {
  return text.toLowerCase().normalize("NFKD");
}

// Draws a view's figures, which the page holds compressed.
async function draw(view) {
  for (const figure of view.querySelectorAll("svg[data-content]")) {
    const bytes = Uint8Array.from(atob(figure.dataset.content), letter => letter.charCodeAt(0));
    const content = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    figure.innerHTML = await new Response(content).text();
    delete figure.dataset.content; // after it is drawn: without the attribute a figure is whole
  }
}

function show(id) {
  for (const view of views) view.hidden = view.id !== id;
  draw(document.getElementById(id));
  for (const link of document.querySelectorAll("#contents a")) {
    if (link.hash === `#${id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    link.parentElement.classList.toggle("open", link.hash === `#${id}`);
  }
}

function restore() {
  if (!results?.firstElementChild) return;
  for (const [claim, home] of homes) home.append(claim);
  results.replaceChildren();
}

// Where claims stand, with a link.
function headingOf(group) {
  const heading = document.createElement("h3");
  const link = document.createElement("a");
  link.href = `#${group.dataset.to}`;
  link.textContent = group.dataset.at;
  heading.append(link);
  return heading;
}

const orders = {
  verdict: claim => verdicts.indexOf(claim.dataset.v),
  ground: claim => grounds.indexOf(claim.dataset.g),
  far: claim => claim.dataset.d === "" ? Infinity : -Number(claim.dataset.d),
  statement: claim => claim.querySelector(".s").textContent,
};

function find(asked) {
  const wanted = words(asked.get("q") || "").split(/\s+/).filter(Boolean);
  const has = text => wanted.every(word => text.includes(word));
  const chosen = claims.filter(claim =>
    has(texts.get(claim)) &&
    (!asked.get("asked") || claim.dataset.q.split(" ").includes(asked.get("asked"))) &&
    (!asked.get("verdict") || claim.dataset.v === asked.get("verdict")) &&
    (!asked.get("ground") || claim.dataset.g === asked.get("ground")) &&
    (!asked.get("paper") || claim.id.startsWith(`${asked.get("paper")}/`)));
  const order = orders[asked.get("sort")];
  if (order) {
    const keyed = chosen.map(claim => [order(claim), claim]);
    keyed.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
    chosen.splice(0, chosen.length, ...keyed.map(([, claim]) => claim));
  }
  restore();
  let at = null;
  for (const claim of chosen) {
    const group = homes.get(claim).closest(".group");
    if (!order && group !== at) results.append(headingOf(group));
    at = group;
    results.append(claim);
  }
  output.textContent = `${chosen.length} of ${claims.length} claims`;
  const pictures = document.getElementById("pictures");
  pictures.replaceChildren();
  if (!wanted.length) return;
  for (const figure of figures) {
    if (!has(words(`${figure.id} ${figure.querySelector("figcaption p").textContent}`))) continue;
    const link = document.createElement("a");
    link.href = `#${figure.id}`;
    link.textContent = `${figure.id.split("/")[0]} ${figure.querySelector("h4, b").firstChild.textContent.trim()}`;
    pictures.append(link, " ");
  }
}

function go() {
  const address = decodeURIComponent(location.hash.slice(1)) || views[0].id;
  document.getElementById("contents").hidePopover?.();
  const [name, query] = address.split("?");
  if (name === "find" && results) {
    const asked = new URLSearchParams(query || "");
    for (const field of form.elements) if (field.name && document.activeElement !== field) field.value = asked.get(field.name) || "";
    find(asked);
    show("find");
    return;
  }
  restore();
  const target = document.getElementById(address);
  if (!target || address === "main") {
    if (!views.some(view => !view.hidden)) show(views[0].id);
    if (target) target.focus();
    return;
  }
  form.reset();
  const view = target.closest(".view");
  show(view ? view.id : views[0].id);
  for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  if (target === view) scrollTo(0, 0);
  else target.scrollIntoView();
}

function ask() {
  const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  const address = asked.size ? `#find?${asked}` : "#find";
  if (!results) {
    location.href = `report.html${address}`;
    return;
  }
  history.replaceState(null, "", address);
  go();
}

const zoom = document.getElementById("zoom");
for (const button of document.querySelectorAll(".zoom")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    zoom.lastElementChild.replaceWith(button.parentElement.querySelector("svg").cloneNode(true));
    zoom.showModal();
  });
}
zoom.addEventListener("click", () => zoom.close());
zoom.addEventListener("close", () => zoom.lastElementChild.replaceChildren());

form.hidden = false;
form.addEventListener(results ? "input" : "change", ask);
form.addEventListener("submit", event => { event.preventDefault(); ask(); });
addEventListener("hashchange", go);
go();
