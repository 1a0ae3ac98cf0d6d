// What is wrong with a page for its readers, as lines. Contrast is that of WCAG 2: 4.5 to 1, 3 to 1 for large text.
() => {
  const found = [], shown = (e) => e.checkVisibility && e.checkVisibility();
  const name = (e) => `${e.tagName.toLowerCase()}.${e.className.baseVal ?? e.className} "${(e.textContent || '').trim().slice(0, 30)}"`;
  for (const e of document.querySelectorAll('input:not([type=hidden]), select, textarea'))
    if (!e.labels.length && !e.ariaLabel) found.push(`no label: ${name(e)}`);
  for (const e of document.querySelectorAll('img')) if (!e.hasAttribute('alt')) found.push(`no alt: ${e.src.slice(0, 60)}`);
  for (const e of document.querySelectorAll('svg[role=img]'))
    if (!e.ariaLabel && !e.hasAttribute('aria-labelledby')) found.push(`no name: ${name(e)}`);
  for (const e of document.querySelectorAll('a[href], button'))
    if (!e.hidden && !(e.ariaLabel || e.textContent.trim() || e.querySelector('img[alt]'))) found.push(`no text: ${e.outerHTML.slice(0, 80)}`);
  for (const e of document.querySelectorAll('[aria-labelledby], [aria-describedby], label[for]'))
    for (const id of ['aria-labelledby', 'aria-describedby', 'for'].flatMap((a) => (e.getAttribute(a) || '').split(' ')).filter(Boolean))
      if (!document.getElementById(id)) found.push(`no such id: ${id}`);
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) found.push(`twice: #${id}`);
  if (!document.documentElement.lang) found.push('no lang');
  for (const tag of ['main', 'body > header', 'body > footer']) if (document.querySelectorAll(tag).length !== 1) found.push(`not one ${tag}`);
  const levels = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].filter(shown).map((e) => +e.tagName[1]);
  if (levels.filter((level) => level === 1).length !== 1) found.push(`h1: ${levels}`);
  levels.forEach((level, i) => { if (i && level > levels[i - 1] + 1) found.push(`h${levels[i - 1]} before h${level}`); });
  const rgb = (text) => (text.match(/[0-9.]+/g) || []).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0.99) return c; } return [255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement, style = getComputedStyle(e);
    if (!walker.currentNode.textContent.trim() || !shown(e) || e.closest('script, style, title, option, .skip')) continue;
    const ink = e instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(rgb(ink)), light(behind(e))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
    const key = `${e.tagName}.${e.className.baseVal ?? e.className}`;
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5) && !seen.has(key)) { seen.add(key); found.push(`contrast ${((a + 0.05) / (b + 0.05)).toFixed(2)}: ${name(e)}`); }
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) found.push(`${wide} pixels too wide`);
  return found;
}
