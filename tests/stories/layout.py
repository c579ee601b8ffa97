"""What is wrong with the look of a page: overlap, cut or faint text, and complaints of scripts."""

from itertools import product

from tests.browser import console, set_screen

# Boxes of text lines that are seen, in page coordinates, and what is wrong with them.
FAULTS = """
const faults = [];
const lines = [];
const shown = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const style = getComputedStyle(e);
    if (style.display === "none" || style.visibility === "hidden") return false;
    if (style.clipPath !== "none" || e.classList.contains("skip")) return false;
    if (e.tagName === "DETAILS" && !e.open && !element.closest("summary")) return false;
  }
  return true;
};
const say = (fault, text) => faults.push(`${fault}: ${text.trim().slice(0, 60)}`);
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode;
  const element = node.parentElement;
  if (!node.data.trim() || element.closest("script, style, textarea") || !shown(element)) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  const scroller = element.closest(".scroll");
  for (const box of range.getClientRects()) {
    if (box.width < 1) continue;
    const inside = scroller && scroller.scrollWidth > scroller.clientWidth;
    const isOut = box.left < -0.5 || box.right > innerWidth + 0.5;
    if (!inside && isOut) say("beyond the edge", node.data);
    lines.push({ node, box, element });
  }
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(element);
  if (!element.closest(".confusion, .comparison") && style.color.startsWith("rgb")) {
    const pair = [light(style.color), light(ground(element))].sort((a, b) => b - a);
    if ((pair[0] + 0.05) / (pair[1] + 0.05) < 4.5) say("too faint", node.data);
  }
}
const meet = (a, b, slack) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > slack
  && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > slack;
lines.forEach((one, i) => {
  for (const other of lines.slice(i + 1)) {
    if (one.node === other.node) continue;
    const slack = Math.min(one.box.height, other.box.height) * 0.3;
    if (meet(one.box, other.box, slack)) say("overlap", one.node.data + " | " + other.node.data);
  }
});
for (const picture of document.querySelectorAll("svg")) {
  const box = picture.getBoundingClientRect();
  for (const line of lines) if (meet(line.box, box, 2)) say("text on a picture", line.node.data);
}
for (const element of document.querySelectorAll("body *")) {
  if (!shown(element) || element.closest("svg")) continue;
  const style = getComputedStyle(element);
  const cuts = ["hidden", "clip"].includes(style.overflowX) || style.textOverflow === "ellipsis";
  if (cuts && element.scrollWidth > element.clientWidth + 1) say("cut", element.textContent);
  const scrolls = element.matches(".scroll") && element.scrollWidth > element.clientWidth + 1;
  if (scrolls && innerWidth >= 1300) say("a table scrolls", element.textContent);
  const isField = element.matches("textarea");
  if (isField && element.scrollHeight > element.clientHeight + 2) say("cut", element.value);
}
if (document.documentElement.scrollWidth > innerWidth) say("the page scrolls sideways", "");
return faults;
"""


def layout_faults(browser, page):
    """Return what is wrong with a page, wide and narrow, light and dark."""
    faults = {}
    for width, dark in product((1300, 400), (False, True)):
        set_screen(browser, width=width, dark=dark)
        browser.get(page.as_uri())
        found = browser.execute_script(FAULTS) + console(browser)
        if found:
            faults[width, dark] = found
    return faults
