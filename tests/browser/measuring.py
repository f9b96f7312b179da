"""Which parts of a page are cut off, or wider than their box."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Boxes that scroll may have wider content; hidden elements are not measured. In a drawing every
# mark is measured: it is cut at the edge of the drawing, and no box becomes wider by it.
_CUT = """(scrolls) => {
  const found = [];
  const width = document.documentElement.clientWidth;
  const scrolled = (one) => {
    for (let box = one.parentElement; box; box = box.parentElement) {
      if (box === document.body) return false;
      if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return true;
    }
    return false;
  };
  const say = (one, why, box) => found.push(
    `${one.tagName}.${one.getAttribute('class') || ''} ${why}: ${Math.round(box.left)} to ` +
    `${Math.round(box.right)} of ${width}: ${(one.textContent || '').trim().slice(0, 60)}`);
  for (const one of document.body.querySelectorAll('*')) {
    if (one.closest('svg') && one.tagName !== 'svg') continue;
    const box = one.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1) continue;
    if (getComputedStyle(one).visibility === 'hidden') continue;
    if (scrolls && scrolled(one)) continue;
    if (box.left < -1 || box.right > width + 1) say(one, 'is outside', box);
    const style = getComputedStyle(one);
    if (/hidden|clip/.test(style.overflowX) && one.scrollWidth > one.clientWidth + 1
        && one.tagName !== 'svg') say(one, 'is cut', box);
    if (!scrolls && /auto|scroll/.test(style.overflowX) && one.scrollWidth > one.clientWidth + 1)
      say(one, 'scrolls on paper', box);
  }
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    if (!frame.width) continue;
    for (const one of svg.querySelectorAll('text, path, line, rect')) {
      if (one.closest('defs, clipPath') || one.closest('[clip-path]')) continue;
      if (one.matches('.background') || one.getAttribute('stroke') === 'transparent') continue;
      const box = one.getBoundingClientRect();
      if (!box.width && !box.height) continue;
      if (box.left < frame.left - 1 || box.right > frame.right + 1
          || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        say(one, `leaves its drawing (${Math.round(frame.left)} to ${Math.round(frame.right)}, `
          + `down ${Math.round(box.top - frame.top)} of ${Math.round(frame.height)})`, box);
    }
  }
  return found;
}"""


def cut_off(page: Page, *, scrolls: bool = True) -> list[str]:
    """Return the elements that are not wholly visible; paper does not scroll."""
    found: list[str] = page.evaluate(_CUT, scrolls)
    return found
