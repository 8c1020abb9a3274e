// A canvas to draw a digit on: mouse, touch, pen or keyboard. Each stroke is told at once.

import {button, h, mark, refill} from './dom.js';
import {bytesOf, canvasFor, pictureOf, put} from './pictures.js';
import {ask} from './server.js';
import {valuesOf} from './words.js';

const kSoftness = 1.05;  // deviation of the brush, in pixels
const kReach = 3;        // pixels beyond which it leaves nothing
const kMostUndone = 50;

// A soft dot of ink, or of no ink, at a place that need not be whole.
function dab(bytes, {height, width, ink}, x, y, erase) {
  const full = ink === 'light' ? 255 : 0, empty = 255 - full;
  for (let row = Math.max(0, Math.floor(y - kReach)); row <= Math.min(height - 1, y + kReach); ++row) {
    for (let column = Math.max(0, Math.floor(x - kReach)); column <= Math.min(width - 1, x + kReach); ++column) {
      const distance = (column + 0.5 - x) ** 2 + (row + 0.5 - y) ** 2;
      const amount = Math.min(1, 1.5 * Math.exp(-distance / (2 * kSoftness ** 2 * (erase ? 2 : 1))));
      const at = row * width + column, now = (bytes[at] - empty) / (full - empty);
      const then = erase ? now * (1 - amount) : Math.max(now, amount);
      bytes[at] = Math.round(empty + then * (full - empty));
    }
  }
}

export function makeDrawing(view) {
  const {run} = view, {input} = run;
  const canvas = canvasFor(input);
  canvas.removeAttribute('aria-hidden');
  canvas.setAttribute('role', 'application');
  canvas.tabIndex = 0;
  const cursor = h('span', {class: 'cursor', 'aria-hidden': 'true'});
  const swatchRow = h('div', {class: 'swatches', role: 'group', 'aria-label': 'Paste'});
  const undoButton = button('Undo', undo), restoreButton = button('Restore', () => replace(null));
  const draws = button('Draw', () => choose(false), {'aria-pressed': 'true'}), erases = button('Erase', () => choose(true), {'aria-pressed': 'false'});
  const clears = button('Empty', () => replace(new Uint8Array(view.parts[part].length).fill(input.ink === 'light' ? 0 : 255)));
  const undone = new Map();  // for each part, what it was before each stroke
  let part = 0, erase = false, last = null, at = {x: input.width / 2, y: input.height / 2}, pasted = 0;

  function choose(value) {
    erase = value;
    mark(draws, 'aria-pressed', String(!erase));
    mark(erases, 'aria-pressed', String(erase));
  }
  function keep() {
    const before = undone.get(part) ?? [];
    before.push(view.parts[part].slice());
    undone.set(part, before.slice(-kMostUndone));
  }
  function replace(bytes) {
    keep();
    view.repaint(part, bytes);
    drawing.show();
  }
  function undo() {
    const before = undone.get(part)?.pop();
    if (!before) return;
    view.repaint(part, before);
    drawing.show();
  }
  // From where the pen was to where it is.
  function stroke(x, y) {
    const bytes = view.parts[part].slice(), from = last ?? {x, y};
    const steps = Math.max(1, Math.ceil(2 * Math.hypot(x - from.x, y - from.y)));
    for (let step = 1; step <= steps; ++step) {
      dab(bytes, input, from.x + (x - from.x) * step / steps, from.y + (y - from.y) * step / steps, erase);
    }
    last = {x, y};
    view.repaint(part, bytes);
    drawing.show();
  }
  const placeOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width * input.width, (event.clientY - box.top) / box.height * input.height];
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 && event.pointerType === 'mouse') return;
    canvas.setPointerCapture(event.pointerId);
    keep();
    last = null;
    stroke(...placeOf(event));
  });
  canvas.addEventListener('pointermove', (event) => {
    if (last === null) return;
    for (const one of event.getCoalescedEvents?.() ?? [event]) stroke(...placeOf(one));
  });
  for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) canvas.addEventListener(end, () => {
    last = null;
  });
  canvas.addEventListener('keydown', (event) => {
    const move = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (move) {
      at = {x: Math.max(0.5, Math.min(input.width - 0.5, at.x + move[0])), y: Math.max(0.5, Math.min(input.height - 0.5, at.y + move[1]))};
      if (event.shiftKey) {
        last = null;
        stroke(at.x, at.y);
        last = null;
      }
    } else if (event.key === ' ') {
      keep();
      last = null;
      stroke(at.x, at.y);
      last = null;
    } else if (event.key === 'e') choose(!erase);
    else if (event.key === 'z') undo();
    else return;
    event.preventDefault();
    showCursor();
  });
  function showCursor() {
    cursor.style.setProperty('--x', at.x / input.width);
    cursor.style.setProperty('--y', at.y / input.height);
  }
  showCursor();

  // Something to paste: pictures that perception takes for each value with most certainty.
  ask('/api/swatches').then(({values}) => {
    if (!values || !view.page.current()) return;
    refill(swatchRow, h('span', {class: 'term'}, 'Paste'), values.map((pictures, value) => pictures.length === 0 ? null :
      h('button', {type: 'button', class: 'swatch', 'data-key': value, 'aria-label': `Paste a ${valuesOf(run.worlds, 0)[value]}`,
                   onclick: () => replace(bytesOf(pictures[pasted++ % pictures.length]))},
        pictureOf(bytesOf(pictures[0]), input))));
  }).catch((error) => view.page.fail(error, view.page.again));

  const drawing = {
    element: h('div', {class: 'drawing'}, h('div', {class: 'board'}, canvas, cursor),
      h('div', {class: 'drawtools'},
        h('div', {class: 'segments', role: 'group', 'aria-label': 'Pen'}, draws, erases),
        h('div', {class: 'tools'}, undoButton, clears, restoreButton), swatchRow,
        h('p', {class: 'quiet hint'}, 'Keys: arrows move, space dabs, shift and arrows draw, e erases, z undoes.'))),
    take(variable) {
      part = variable;
      last = null;
      canvas.setAttribute('aria-label', `Drawing of ${run.worlds.names[part]}`);
    },
    show() {
      put(canvas, view.parts[part], input);
      mark(undoButton, 'disabled', (undone.get(part)?.length ?? 0) === 0);
      mark(restoreButton, 'disabled', !view.painted.has(part));
    },
  };
  return drawing;
}
