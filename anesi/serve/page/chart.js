// A chart that the server drew, taken apart and put together again from what a chart may consist of.

const kSvg = 'http://www.w3.org/2000/svg';
const kElements = new Set(['svg', 'g', 'path', 'line', 'polyline', 'polygon', 'rect', 'circle', 'ellipse', 'text', 'tspan', 'title', 'desc']);
const kAttributes = new Set(['viewBox', 'x', 'y', 'x1', 'y1', 'x2', 'y2', 'cx', 'cy', 'r', 'rx', 'ry', 'dx', 'dy', 'd', 'points', 'width', 'height', 'class',
                             'fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-opacity', 'stroke-linejoin', 'stroke-linecap',
                             'opacity', 'transform', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline', 'preserveAspectRatio']);

function copy(from) {
  const made = document.createElementNS(kSvg, from.localName);
  for (const {name, value} of from.attributes) {
    if (kAttributes.has(name) && !/url\s*\(|javascript:/i.test(value)) made.setAttribute(name, value);
  }
  for (const child of from.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) made.append(child.data);
    else if (child.nodeType === Node.ELEMENT_NODE && child.namespaceURI === kSvg && kElements.has(child.localName)) made.append(copy(child));
  }
  return made;
}

// An element from the text of an SVG file, or null where it is none. Scripts, styles and links stay behind.
export function chartOf(text, label) {
  const plain = text.replace(/<style[\s\S]*?<\/style>|\sstyle\s*=\s*("[^"]*"|'[^']*')/g, '');  // the policy would refuse it aloud
  const root = new DOMParser().parseFromString(plain, 'image/svg+xml').documentElement;
  if (root.localName !== 'svg' || root.namespaceURI !== kSvg || root.querySelector('parsererror')) return null;
  const chart = copy(root);
  chart.setAttribute('role', 'img');
  chart.setAttribute('aria-label', label);
  chart.removeAttribute('height');
  chart.removeAttribute('width');
  return chart;
}
