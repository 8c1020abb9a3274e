// World variables laid out as a grid of cells: the picture of each, what was read, and its beliefs as small bars.
//
// A grid has one tab stop; arrow keys move in it, a value's key fixes the value, Delete frees it.

import {h, mark, say, svg} from './dom.js';
import {canvasFor, put} from './pictures.js';
import {keysOf, percent, valuesOf} from './words.js';

// Beliefs as one outline of bars, a unit wide each.
export function barsPath(belief) {
  return belief.map((share, value) => `M${value + 0.12} 1V${(1 - Math.max(0.02, share)).toFixed(3)}H${value + 0.88}V1z`).join('');
}

// Arrow keys, Home and End among cells, which may stand in any number of columns.
function stepOf(key, at, cells) {
  const top = cells[0].getBoundingClientRect().top, below = cells.findIndex((cell) => cell.getBoundingClientRect().top > top + 1);
  const width = below < 0 ? cells.length : below;
  const to = {ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - width, ArrowDown: at + width, Home: at - (at % width),
              End: Math.min(cells.length - 1, at - (at % width) + width - 1)}[key];
  return to === undefined || to < 0 || to >= cells.length ? null : to;
}

// What a key does to the variable that has the focus; true where it does something.
export function actOn(view, event, cells, act) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const variable = view.selected, to = stepOf(event.key, variable, cells);
  if (to !== null) {
    view.select(to, {focus: true});
    return true;
  }
  if (event.key === 'Delete' || event.key === 'Backspace') {
    view.fix(variable, null);
    return true;
  }
  const value = keysOf(valuesOf(view.run.worlds, variable)).indexOf(event.key);
  if (value < 0 || event.key === '') return false;
  act(variable, value);
  return true;
}

const kFew = 12;  // cells that are shown large

export function makeCells(view, pictured) {
  const {run} = view, {count, names} = run.worlds, {block} = run.layout, columns = run.layout.columns || count;
  const wraps = columns >= count;
  const cells = [];
  const rows = [];
  for (let variable = 0; variable < count; ++variable) {
    const picture = pictured ? canvasFor(run.input) : null;
    if (picture) put(picture, view.parts[variable], run.input);
    const value = h('span', {class: 'value'}, '\u00a0'), share = h('span', {class: 'share'}), arrow = h('span', {class: 'arrow'});
    const path = svg('path', {d: ''});
    const domain = run.worlds.domains[variable];
    const cell = h('div', {class: 'cell', role: 'gridcell', tabindex: -1, 'data-variable': variable},
      !pictured && h('span', {class: 'name'}, names[variable]), picture,
      h('span', {class: 'reading'}, value, arrow, share),
      svg('svg', {class: 'bars', viewBox: `0 0 ${domain} 1`, preserveAspectRatio: 'none', 'aria-hidden': 'true'}, path));
    if (block > 0) {
      mark(cell, 'data-block-left', variable % columns % block === 0 && variable % columns > 0);
      mark(cell, 'data-block-top', Math.floor(variable / columns) % block === 0 && variable >= columns);
    }
    Object.assign(cell, {picture, value, share, arrow, path});
    cells.push(cell);
    if (wraps ? rows.length === 0 : variable % columns === 0) rows.push(h('div', {role: 'row', class: 'row'}));
    rows.at(-1).append(cell);
  }
  const grid = h('div', {class: `cells${wraps ? ' wraps' : ''}${wraps && pictured && count <= kFew ? ' few' : ''}${block > 0 ? ' blocks' : ''}${pictured ? '' : ' bare'}`, role: 'grid', '--columns': columns,
                         'aria-label': `What was seen: ${count} variables`}, rows);
  grid.addEventListener('click', (event) => {
    const cell = event.target.closest('.cell');
    if (cell) view.select(Number(cell.dataset.variable), {focus: true});
  });
  grid.addEventListener('keydown', (event) => {
    if (actOn(view, event, cells, (variable, value) => view.fix(variable, value))) event.preventDefault();
  });
  // Pictures that do not stand for variables one by one are shown by themselves.
  const others = !pictured && run.input.kind === 'images'
    ? h('div', {class: 'parts', role: 'img', 'aria-label': 'The input'}, view.parts.map((bytes) => {
      const canvas = canvasFor(run.input);
      put(canvas, bytes, run.input);
      return canvas;
    })) : null;
  const read = h('p', {class: 'readline'}, '\u00a0');

  function labelOf(variable, {belief, reading, explained, known, conflict}) {
    const values = valuesOf(run.worlds, variable);
    return `${names[variable]}: read ${values[reading]}, ${percent(belief[reading])}` + (known ? ', known' : '') +
           (explained !== reading ? `, explained as ${values[explained]}` : '') + (conflict ? ', in conflict' : '');
  }

  const shown = {
    element: h('section', {class: 'seen', 'aria-labelledby': 'seen'}, h('h2', {id: 'seen'}, 'Seen'), others, h('div', {class: 'scroll'}, grid), read),
    focus(variable) {
      cells[variable].focus();
    },
    repaint(part) {
      if (pictured) put(cells[part].picture, view.parts[part], run.input);
      mark(cells[part], 'data-painted', view.painted.has(part));
    },
    mark() {
      cells.forEach((cell, variable) => {
        cell.tabIndex = variable === view.selected ? 0 : -1;
        mark(cell, 'aria-selected', String(variable === view.selected));
      });
    },
    show() {
      const {beliefs, explanation, prediction} = view.answer;
      const world = explanation?.world ?? prediction.world, explained = view.explainedWorld() ?? world;
      const conflicts = new Set((explanation?.conflicts ?? []).flat());
      cells.forEach((cell, variable) => {
        const values = valuesOf(run.worlds, variable), belief = beliefs[variable], reading = world[variable];
        const known = view.known.has(variable), conflict = conflicts.has(variable);
        say(cell.value, values[reading]);
        say(cell.share, percent(belief[reading]));
        say(cell.arrow, explained[variable] === reading ? '' : `→\u2009${values[explained[variable]]}`);
        cell.path.setAttribute('d', barsPath(belief.slice(0, run.worlds.domains[variable])));
        mark(cell, 'data-known', known);
        mark(cell, 'data-conflict', conflict);
        mark(cell, 'data-painted', view.painted.has(variable));
        mark(cell, 'aria-label', labelOf(variable, {belief, reading, explained: explained[variable], known, conflict}));
      });
      say(read, `Read: ${explanation?.read ?? prediction.read}`);
      shown.mark();
    },
  };
  shown.mark();
  return shown;
}
