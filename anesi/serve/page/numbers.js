// Inputs that are numbers: each can be changed.

import {h, mark} from './dom.js';

export function makeNumbers(view) {
  const {run} = view, size = Math.max(1e-9, ...view.numbers.map(Math.abs));
  const fields = view.numbers.map((_, at) => {
    const name = run.input.names?.[at] ?? `number ${at + 1}`;
    const field = h('input', {type: 'number', step: 'any', 'aria-label': name, oninput: () => {
      const value = field.value.trim() === '' ? NaN : Number(field.value);
      mark(field, 'aria-invalid', Number.isFinite(value) ? null : 'true');
      if (!Number.isFinite(value)) return;
      view.setNumber(at, value);
      draw(at);
    }});
    return Object.assign(h('div', {class: 'number'}, h('span', {class: 'name', 'aria-hidden': 'true'}, name), field, h('span', {class: 'bar signed', 'aria-hidden': 'true'})), {field});
  });

  function draw(at) {
    const place = fields[at].lastChild, share = Math.max(-1, Math.min(1, view.numbers[at] / size));
    place.style.setProperty('--from', Math.min(0, share));
    place.style.setProperty('--to', Math.max(0, share));
    mark(fields[at], 'data-changed', view.edited.has(at));
  }

  const table = {
    element: h('section', {class: 'numbers', 'aria-labelledby': 'numbers'}, h('h2', {id: 'numbers'}, 'Input'),
               h('div', {class: 'numberlist'}, fields)),
    show() {
      view.numbers.forEach((value, at) => {
        fields[at].field.value = String(Number(value.toPrecision(6)));
        mark(fields[at].field, 'aria-invalid', null);
        draw(at);
      });
    },
  };
  table.show();
  return table;
}
