// The list of examples: which ones, how sure, right or wrong.

import {bar, button, h, mark, refill, say} from './dom.js';
import {bytesOf, canvasFor, put} from './pictures.js';
import {ask, query} from './server.js';
import {number, percent} from './words.js';

const kRows = 24;         // on a page of the list
const kAskAgain = 1000;   // milliseconds, while examples are being looked at
const kWidest = 16;       // parts side by side, of those that may be broken
const kMostThumbs = 100;  // parts of an input that are drawn small
const kFilters = {all: 'All', wrong: 'Wrong', unsure: 'Unsure', gap: 'Large gap'};

// The list that was looked at last, so that an example has a next and a previous one.
let listed = {split: null, indices: []};

// The example that stands `step` places further on in the list that was looked at last, or null.
export function neighbour(run, split, index, step) {
  const place = listed.split === split ? listed.indices.indexOf(index) : -1;
  if (place >= 0) return listed.indices[place + step] ?? null;
  const next = index + step;
  return next >= 0 && next < run.splits[split] ? next : null;
}

// The input of an example, small. Drawn when it comes into sight.
class Thumbnails {
  constructor(run, split) {
    this.run = run;
    this.split = split;
    this.waiting = [];
    this.busy = false;
    this.sight = new IntersectionObserver((seen) => {
      for (const {target, isIntersecting} of seen) {
        if (!isIntersecting) continue;
        this.sight.unobserve(target);
        this.waiting.push(target);
      }
      this.draw();
    });
  }

  place(index) {
    const {run} = this;
    if (run.input.kind !== 'images' || (run.input.parts > kMostThumbs && !run.walk)) return null;
    const wanted = run.layout.columns || run.input.parts, columns = wanted <= kWidest || run.walk ? wanted : kWidest;
    const rows = Math.ceil(run.input.parts / columns);
    const canvas = canvasFor(run.input, columns, rows);
    canvas.dataset.index = index;
    canvas.style.aspectRatio = `${columns * run.input.width} / ${rows * run.input.height}`;
    this.columns = columns;
    this.sight.observe(canvas);
    return canvas;
  }

  async draw() {
    if (this.busy) return;
    this.busy = true;
    while (this.waiting.length > 0) {
      const canvas = this.waiting.shift(), {input} = this.run;
      if (!canvas.isConnected) continue;
      try {
        const {parts} = await ask('/api/input' + query({split: this.split, index: canvas.dataset.index}));
        parts.forEach((part, at) => put(canvas, bytesOf(part), input, (at % this.columns) * input.width,
                                        Math.floor(at / this.columns) * input.height));
        canvas.classList.add('drawn');
      } catch {
        break;  // the list itself says what is wrong
      }
    }
    this.busy = false;
  }
}

function rowOf(row, split, thumbnails) {
  const picture = thumbnails.place(row.index);
  const verdict = row.right === null || row.right === undefined ? '' : row.right ? '✓ right' : '✕ wrong';
  return h('li', {},
    h('a', {class: 'listed', href: `#/example/${split}/${row.index}`, 'data-key': row.index},
      h('span', {class: 'index'}, number(row.index)),
      picture && h('span', {class: 'thumb'}, picture),
      h('span', {class: 'read'}, h('span', {class: 'term'}, 'read '), row.read),
      h('span', {class: 'predicted'}, h('span', {class: 'term'}, 'predicted '), h('b', {}, row.predicted),
        row.gap === null || row.gap === undefined ? null : h('span', {class: 'quiet'}, ` gap ${number(row.gap, 3)}`)),
      h('span', {class: 'sure'}, bar(row.probability ?? 0), h('span', {class: 'figure'}, percent(row.probability))),
      h('span', {class: 'label'}, h('span', {class: 'term'}, 'label '), row.label ?? '–'),
      h('span', {class: row.right === false ? 'verdict wrong' : 'verdict'}, verdict)));
}

export function examplesAddress(split, filter, from) {
  return '#/examples' + query({split: split === 'test' ? null : split, filter: filter === 'all' ? null : filter, from: from || null});
}

export async function showExamples(content, {run, parameters, fail, settle, current}) {
  const splits = Object.keys(run.splits);
  const split = splits.includes(parameters.split) ? parameters.split : splits.includes('test') ? 'test' : splits[0];
  const filter = parameters.filter in kFilters ? parameters.filter : 'all';
  const from = Math.max(0, Math.floor(Number(parameters.from) || 0));
  const thumbnails = new Thumbnails(run, split);
  let timer = null, before = '';

  const go = (changes) => {
    location.hash = examplesAddress(changes.split ?? split, changes.filter ?? filter, changes.from ?? 0);
  };
  const filters = h('div', {class: 'segments', role: 'group', 'aria-label': 'Which examples'},
    Object.entries(kFilters).filter(([name]) => name !== 'gap' || run.asks !== null).map(([name, text]) =>
      button(text, () => go({filter: name}), {'aria-pressed': String(name === filter), 'data-key': name})));
  const choice = h('select', {onchange: (event) => go({split: event.target.value})},
    splits.map((name) => h('option', {value: name, selected: name === split}, `${name} (${number(run.splits[name])})`)));
  const status = h('p', {class: 'quiet', role: 'status'}, 'Looking …');
  const list = h('ol', {class: 'list', 'aria-label': 'Examples'});
  const heads = h('div', {class: 'listed heads', 'aria-hidden': 'true'}, ['read', 'predicted', 'sure', 'label'].map((name) => h('span', {class: name}, name)));
  const earlier = button('← Previous', () => go({from: Math.max(0, from - kRows)}), {disabled: true});
  const later = button('Next →', () => go({from: from + kRows}), {disabled: true});
  list.addEventListener('keydown', (event) => {
    const step = {ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity}[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const links = [...list.querySelectorAll('a')], at = links.indexOf(document.activeElement);
    links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
  });
  refill(content, h('h1', {}, 'Examples'), h('div', {class: 'tools'}, filters, h('label', {}, 'Split ', choice)), status, h('div', {class: 'sheet'}, heads, list),
         h('div', {class: 'tools paging'}, earlier, later));

  async function load() {
    try {
      const answer = await ask('/api/examples' + query({split, filter, from, count: kRows}));
      if (!current()) return;
      settle();
      const {rows, total} = answer;
      const looking = answer.looked_at < answer.of;
      say(status, (rows.length > 0 ? `${number(from + 1)}–${number(from + rows.length)} of ${number(total)}` : 'None') +
                  (looking ? `, looked at ${number(answer.looked_at)} of ${number(answer.of)} so far` : ''));
      if (JSON.stringify(rows) !== before) {
        before = JSON.stringify(rows);
        listed = {split, indices: rows.map((row) => row.index)};
        refill(list, rows.map((row) => rowOf(row, split, thumbnails)));
      }
      mark(earlier, 'disabled', from === 0);
      mark(later, 'disabled', from + rows.length >= total);
      if (looking) timer = setTimeout(load, kAskAgain);
    } catch (error) {
      if (current()) fail(error, load);
    }
  }
  await load();
  return () => {
    clearTimeout(timer);
    thumbnails.sight.disconnect();
  };
}
