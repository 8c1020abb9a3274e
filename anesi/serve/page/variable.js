// The selected variable: its beliefs as bars, each a button that fixes the value; and its picture, to draw on.

import {button, h, mark, say} from './dom.js';
import {makeDrawing} from './drawing.js';
import {percent, valuesOf} from './words.js';

const kVisible = 0.005;  // how far a bar moves at least for a tick to say from where

// Bars of one variable. They stay while answers change, so that their lengths move rather than jump.
function makeBars(view, variable) {
  const values = valuesOf(view.run.worlds, variable);
  const rows = values.map((name, value) => {
    const figure = h('span', {class: 'figure'}, '\u00a0'), length = h('span', {class: 'bar', 'aria-hidden': 'true'});
    const row = button('', () => view.fix(variable, value), {class: 'belief', 'aria-pressed': 'false'});
    row.append(h('span', {class: 'valuename'}, name), length, figure, h('span', {class: 'pin', 'aria-hidden': 'true'}));
    return Object.assign(row, {figure, length});
  });
  return {
    element: h('div', {class: 'beliefs', role: 'group', 'aria-label': 'Beliefs: choose a value to fix it'}, rows),
    show(answer) {
      rows.forEach((row, value) => {
        const known = view.known.get(variable) === value;
        mark(row, 'aria-pressed', String(known));
        say(row.lastChild, known ? 'known' : '');
        if (answer === null) return;
        const share = answer.beliefs[variable][value], before = answer.explanation?.beliefs?.[variable]?.[value] ?? share;
        row.length.style.setProperty('--share', share);
        row.length.style.setProperty('--before', before);
        mark(row.length, 'data-moved', Math.abs(share - before) > kVisible);
        say(row.figure, percent(share));
      });
    },
  };
}

export function makeVariable(view, pictured) {
  const {run} = view;
  const title = h('h2', {id: 'variable'}), place = h('div', {}), note = h('p', {class: 'quiet hint'});
  const drawing = pictured && run.input.channels === 1 ? makeDrawing(view) : null;
  let bars = null, of = null;
  return {
    element: h('section', {class: 'variable', 'aria-labelledby': 'variable'}, title, h('div', {class: 'believed'}, place, note), drawing?.element),
    show() {
      const variable = view.selected;
      if (of !== variable) {
        of = variable;
        bars = makeBars(view, variable);
        place.replaceChildren(bars.element);
        say(title, run.worlds.names[variable]);
        drawing?.take(variable);
      }
      drawing?.show();
      bars.show(view.answer);
      say(note, view.known.size + (view.output === null ? 0 : 1) > 0 ? 'Bars: what follows from what is known. Ticks: what perception saw.' : 'Choose a value to fix it; choose it again to free it.');
    },
  };
}
