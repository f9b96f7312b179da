"""Which parts of a page are cut off, or wider than their box."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Boxes that scroll may have wider content; hidden elements are not measured. In a drawing every
# mark is measured: it is cut at the edge of the drawing, and no box becomes wider by it.
_CUT = """(scrolls) => {
  const found = [], width = document.documentElement.clientWidth;
  const scrolled = (one) => {
    for (let box = one.parentElement; box && box !== document.body; box = box.parentElement)
      if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return true;
    return false;
  };
  const report = (one, why, box) => found.push(
    `${one.tagName}.${one.getAttribute('class') || ''} ${why}: ${Math.round(box.left)} to ` +
    `${Math.round(box.right)} of ${width}: ${(one.textContent || '').trim().slice(0, 60)}`);
  for (const one of document.body.querySelectorAll(':not(svg :not(svg))')) {
    const box = one.getBoundingClientRect(), style = getComputedStyle(one);
    if (box.width <= 1 || box.height <= 1 || style.visibility === 'hidden') continue;
    if (scrolls && scrolled(one)) continue;
    if (box.left < -1 || box.right > width + 1) report(one, 'is outside', box);
    if (one.scrollWidth <= one.clientWidth + 1) continue;
    if (/hidden|clip/.test(style.overflowX) && one.tagName !== 'svg') report(one, 'is cut', box);
    if (!scrolls && /auto|scroll/.test(style.overflowX)) report(one, 'scrolls on paper', box);
  }
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    for (const one of frame.width ? svg.querySelectorAll('text, path, line, rect') : []) {
      if (one.closest('defs, clipPath, [clip-path]')) continue;
      if (one.matches('.background, [stroke=transparent]')) continue;
      const box = one.getBoundingClientRect();
      if (!box.width && !box.height) continue;
      if (box.left < frame.left - 1 || box.right > frame.right + 1
          || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        report(one, `leaves its drawing (${Math.round(frame.left)} to ${Math.round(frame.right)}, `
          + `down ${Math.round(box.top - frame.top)} of ${Math.round(frame.height)})`, box);
    }
  }
  return found;
}"""


def cut_off(page: Page, *, scrolls: bool = True) -> list[str]:
    """Return the elements that are not wholly visible; paper does not scroll."""
    found: list[str] = page.evaluate(_CUT, scrolls)
    return found
