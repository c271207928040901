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
const texts = new Map(claims.map(claim => [claim, words(`${claim.id} ${claim.dataset.v} ${[".k", ".s", ".id"].map(part => claim.querySelector(part).textContent).join(" ")}`)]));

function words(text) {
  return text.toLowerCase().normalize("NFKD");
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

// Draws a view's figures, which the page holds compressed, and reads what each shows where.
async function draw(view) {
  for (const figure of view.querySelectorAll("svg[data-content]")) {
    figure.innerHTML = await unpack(figure.dataset.content);
    const [names, marks] = figure.dataset.values ? JSON.parse(await unpack(figure.dataset.values)) : [[], []];
    figure.marks = marks.map(([text, series, ...place]) => [names[series] ? `${names[series]}: ${text}` : text, series, ...place]);
    delete figure.dataset.content; // after it is drawn: without the attribute a figure is whole
  }
}

const title = document.title;

function show(id) {
  document.title = `${document.getElementById(id).querySelector("h1, h2").firstChild.textContent.trim()} · ${title}`;
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
  const tests = wanted.map(word => /^\d+$/.test(word) ? new RegExp(`(?<!\\d)${word}(?!\\d)`) : { test: text => text.includes(word) });
  const has = text => tests.every(each => each.test(text));
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
    if (!order && group.dataset.at !== at) results.append(headingOf(group));
    at = group.dataset.at;
    results.append(claim);
  }
  output.textContent = `${chosen.length} of ${claims.length} claims${chosen.length ? "" : ": fewer words or filters find more"}`;
  const pictures = document.getElementById("pictures");
  pictures.replaceChildren();
  if (!wanted.length) return;
  for (const figure of figures) {
    if (!has(words(`${figure.id} ${figure.querySelector("h4, b").textContent} ${figure.querySelector("figcaption p").textContent}`))) continue;
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
  if (!target && results) { // what is called otherwise now, or spelt otherwise, is searched for
    location.replace(`#find?q=${encodeURIComponent(address)}`);
    return;
  }
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
    hush();
    const figure = button.parentElement.querySelector("svg");
    zoom.lastElementChild.replaceWith(Object.assign(figure.cloneNode(true), { marks: figure.marks }));
    zoom.showModal();
  });
}
zoom.addEventListener("click", event => { if (value.hidden || event.target.matches("button")) zoom.close(); });
zoom.addEventListener("close", () => { hush(); zoom.lastElementChild.replaceChildren(); });

// The value of the mark under the pointer, or of the one that arrow keys reach: left and right the next one, up and
// down the next series. It stays while the pointer is on it or on its mark, until Escape.
const value = document.getElementById("value");
const ring = document.createElementNS(zoom.lastElementChild.namespaceURI, "rect");
ring.setAttribute("class", "said");
let said; // a mark: text, series, left, top, and width and height if it has a size

function hide() {
  value.hidden = true;
  ring.remove();
}

function hush() {
  said = undefined;
  hide();
}

function say(figure, mark) {
  const [text, , left, top, width = 0, height = 0] = said = mark;
  const box = { x: left - width / 2 - 2, y: top - height / 2 - 2, width: width + 4, height: height + 4, rx: 2 };
  for (const name in box) ring.setAttribute(name, box[name]);
  figure.append(ring);
  figure.before(value);
  value.textContent = text;
  value.hidden = false;
  place();
}

function place() {
  if (value.hidden) return;
  const mark = ring.getBoundingClientRect(), { width, height } = value.getBoundingClientRect();
  value.style.left = `${Math.max(0, Math.min(mark.x + (mark.width - width) / 2, document.documentElement.clientWidth - width))}px`;
  value.style.top = `${mark.y < height ? mark.bottom : mark.y - height}px`;
}

function nearest(figure, event) {
  const scale = figure.getScreenCTM(), reach = (event.pointerType === "touch" ? 20 : 8) / scale.a;
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(scale.inverse());
  let found, least = Infinity;
  for (const mark of figure.marks) {
    const [, , left, top, width = 0, height = 0] = mark;
    const far = Math.hypot(Math.max(0, Math.abs(at.x - left) - width / 2), Math.max(0, Math.abs(at.y - top) - height / 2));
    const rank = far + 99 * (width + height); // points before what they lie on
    if (far <= reach && rank < least) [found, least] = [mark, rank];
  }
  return found;
}

function look(event) {
  if (event.target === value) return;
  const figure = event.target.closest?.(".plate svg, dialog svg");
  const mark = figure?.marks && nearest(figure, event);
  if (!mark) hush();
  else if (mark !== said) say(figure, mark);
}

addEventListener("pointermove", look);
addEventListener("pointerdown", look);
addEventListener("scroll", place, true);
addEventListener("focusout", hush);
addEventListener("keydown", event => {
  if (event.key === "Escape" && !value.hidden) {
    event.preventDefault(); // a figure that is enlarged stays so
    hide();
  }
  const figure = event.target.closest?.(".plate, dialog")?.querySelector("svg");
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], jump = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!figure?.marks?.length || !(step || jump)) return;
  event.preventDefault();
  const { marks } = figure, series = marks.at(-1)[1] + 1, first = said ? marks.indexOf(said) : -Math.max(0, step);
  const wanted = ((said ? said[1] : -Math.max(0, jump)) + jump + series) % series;
  say(figure, jump ? marks.find(mark => mark[1] === wanted) : marks.at((first + step) % marks.length));
  ring.scrollIntoView({ block: "nearest", inline: "nearest" });
});

form.hidden = false;
form.addEventListener(results ? "input" : "change", ask);
form.addEventListener("submit", event => { event.preventDefault(); ask(); });
addEventListener("hashchange", go);
go();
