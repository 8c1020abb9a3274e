// A map: one picture of all cells, with paths and the cells that matter drawn over it, and terrain to paint with.
//
// Each cell can have the focus; the picture is one canvas, for a map may have a thousand cells.

import {actOn} from './cells.js';
import {button, h, mark, say, svg} from './dom.js';
import {bytesOf, canvasFor, pictureOf, put} from './pictures.js';
import {ask} from './server.js';
import {keysOf, percent, valuesOf} from './words.js';

const kOverlays = [
  ['path', 'Predicted path', true],
  ['read_path', 'Cheapest over what was read', false],
  ['label_path', 'Label’s path', true],
  ['influence', 'Cells that matter', true],
  ['read', 'What was read', false],
];

export function makeMap(view) {
  const {run} = view, {count, names} = run.worlds, {columns} = run.layout, rowsCount = Math.ceil(count / columns);
  const values = valuesOf(run.worlds, 0), keys = keysOf(values);
  const picture = canvasFor(run.input, columns, rowsCount);
  const overlay = svg('svg', {class: 'overlay', viewBox: `0 0 ${columns} ${rowsCount}`, 'aria-hidden': 'true'});
  const layers = Object.fromEntries(kOverlays.map(([name]) => [name, svg('g', {class: `layer ${name}`})]));
  overlay.append(layers.influence, layers.read, layers.label_path, layers.read_path, layers.path);
  const cells = [], rows = [];
  for (let variable = 0; variable < count; ++variable) {
    const cell = h('div', {class: 'tile', role: 'gridcell', tabindex: -1, 'data-variable': variable, 'aria-label': names[variable]});
    cells.push(cell);
    if (variable % columns === 0) rows.push(h('div', {role: 'row', class: 'row'}));
    rows.at(-1).append(cell);
  }
  const grid = h('div', {class: 'tiles', role: 'grid', 'aria-label': `The map: ${rowsCount} by ${columns} cells`}, rows);
  const map = h('div', {class: 'map', '--columns': columns}, picture, overlay, grid);

  // Painting: with what, and with which of its pictures next.
  let brush = null, swatches = null, next = 0, painting = false;
  const palette = h('div', {class: 'palette', role: 'group', 'aria-label': 'Paint with'});
  const hint = h('p', {class: 'quiet hint'}, 'Click a cell to look at it; choose terrain to paint with the mouse, or press its number on a cell.');

  function paint(variable, value) {
    const pictures = swatches?.[value];
    if (!pictures || pictures.length === 0) return;
    view.repaint(variable, bytesOf(pictures[next++ % pictures.length]));
  }

  function choose(value) {
    brush = brush === value ? null : value;
    for (const [at, one] of [...palette.children].entries()) mark(one, 'aria-pressed', String(at === (brush ?? -1)));
    mark(map, 'data-painting', brush !== null);
    say(hint, brush === null ? 'Click a cell to look at it; choose terrain to paint with the mouse, or press its number on a cell.'
                             : `Painting ${values[brush]}: drag over the map. Choose it again to stop.`);
  }

  ask('/api/swatches').then((answer) => {
    swatches = answer.values;
    if (!swatches || !view.page.current()) return;
    palette.append(...swatches.map((pictures, value) => button('', () => choose(value), {class: 'swatch', 'aria-pressed': 'false', disabled: pictures.length === 0})));
    [...palette.children].forEach((one, value) => {
      if (swatches[value].length > 0) one.append(pictureOf(bytesOf(swatches[value][0]), run.input));
      one.append(h('span', {}, h('kbd', {}, keys[value]), ` ${values[value]}`));
    });
  }).catch((error) => view.page.fail(error, view.page.again));

  const under = (event) => {
    const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest?.('.tile');
    return cell && grid.contains(cell) ? Number(cell.dataset.variable) : null;
  };
  let last = null;
  grid.addEventListener('pointerdown', (event) => {
    if (brush === null || event.button !== 0) return;
    const at = under(event);
    if (at === null) return;
    event.preventDefault();
    painting = true;
    last = at;
    view.select(at);
    paint(at, brush);
  });
  grid.addEventListener('pointermove', (event) => {
    if (!painting) return;
    const at = under(event);
    if (at === null || at === last) return;
    last = at;
    paint(at, brush);
  });
  for (const end of ['pointerup', 'pointercancel', 'pointerleave']) grid.addEventListener(end, () => {
    painting = false;
  });
  grid.addEventListener('click', (event) => {
    const cell = event.target.closest('.tile');
    if (cell) view.select(Number(cell.dataset.variable), {focus: true});
  });
  grid.addEventListener('keydown', (event) => {
    if (event.key === ' ' && brush !== null) paint(view.selected, brush);
    else if (!actOn(view, event, cells, paint)) return;
    event.preventDefault();
  });

  const shownLayers = h('fieldset', {class: 'layers'}, h('legend', {}, 'Show'), kOverlays.map(([name, text, on]) => {
    layers[name].style.display = on ? '' : 'none';
    return h('label', {'data-layer': name}, h('input', {type: 'checkbox', checked: on, onchange: (event) => {
      layers[name].style.display = event.target.checked ? '' : 'none';
    }}), h('span', {class: `sample ${name}`, 'aria-hidden': 'true'}), text);
  }));

  function putPart(part) {
    put(picture, view.parts[part], run.input, (part % columns) * run.input.width, Math.floor(part / columns) * run.input.height);
  }
  view.parts.forEach((_, part) => putPart(part));

  const middle = (cell) => `${(cell % columns) + 0.5},${Math.floor(cell / columns) + 0.5}`;
  function line(layer, path) {
    const points = (path ?? []).map(middle).join(' ');
    layer.replaceChildren(...(points === '' ? [] : [svg('polyline', {class: 'casing', points}), svg('polyline', {class: 'line', points})]));
  }

  const read = h('p', {class: 'readline'}, '\u00a0');
  const shown = {
    element: h('section', {class: 'seen', 'aria-labelledby': 'seen'}, h('h2', {id: 'seen'}, 'Seen'), palette, hint, h('div', {class: 'scroll'}, map), shownLayers, read),
    focus(variable) {
      cells[variable].focus();
    },
    repaint: putPart,
    mark() {
      grid.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1');
      grid.querySelector('[aria-selected]')?.removeAttribute('aria-selected');
      cells[view.selected].tabIndex = 0;
      cells[view.selected].setAttribute('aria-selected', 'true');
    },
    show() {
      const {beliefs, explanation, prediction} = view.answer;
      const world = explanation?.world ?? prediction.world;
      for (const name of ['path', 'read_path', 'label_path']) line(layers[name], explanation?.[name]);
      const influence = explanation?.influence ?? [], most = Math.max(1e-12, ...influence);
      layers.influence.replaceChildren(...influence.flatMap((weight, cell) => weight / most < 0.02 ? [] : [
        svg('circle', {cx: (cell % columns) + 0.5, cy: Math.floor(cell / columns) + 0.5, r: (0.46 * Math.sqrt(weight / most)).toFixed(3)})]));
      layers.read.replaceChildren(...world.map((value, cell) =>
        svg('text', {x: (cell % columns) + 0.5, y: Math.floor(cell / columns) + 0.68}, keys[value] || values[value])));
      const onPath = new Set(explanation?.path ?? []);
      cells.forEach((cell, variable) => {
        mark(cell, 'aria-label', `${names[variable]}: read ${values[world[variable]]}, ${percent(beliefs[variable][world[variable]])}` +
          (onPath.has(variable) ? ', on the path' : '') + (view.known.has(variable) ? ', known' : '') + (view.painted.has(variable) ? ', repainted' : ''));
        mark(cell, 'data-known', view.known.has(variable));
        mark(cell, 'data-painted', view.painted.has(variable));
      });
      say(read, explanation?.read_path === undefined || explanation?.read_path === null ? '' :
        String(explanation.path) === String(explanation.read_path) ? 'The predicted path is the cheapest over what was read.'
                                                                    : 'The cheapest path over what was read is another one.');
      shown.mark();
    },
  };
  shown.mark();
  return shown;
}
