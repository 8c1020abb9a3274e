// Why: the likeliest worlds behind an output; a sudoku's conflicts and the nearest valid grid; or what matters most.

import {bar, button, h, refill, say} from './dom.js';
import {count, number, percent, valuesOf} from './words.js';

const kMostTold = 12;  // changes, conflicts

export function makeExplanation(view) {
  const {run} = view, {names} = run.worlds;
  const title = h('h2', {id: 'explained'}, 'Explanations'), told = h('p', {}), body = h('div', {});

  const lookAt = (variable, text) => button(text, () => view.select(variable, {focus: true}), {class: 'link', 'data-key': `look ${variable} ${text}`});

  function changesOf(changes) {
    const shown = changes.slice(0, kMostTold).map(({variable, value, read}) => {
      const values = valuesOf(run.worlds, variable);
      return h('span', {class: 'change'}, lookAt(variable, names[variable]), ` ${values[read]} → ${values[value]}`);
    });
    if (changes.length > kMostTold) shown.push(h('span', {}, `and ${number(changes.length - kMostTold)} more`));
    return shown;
  }

  function ranked(explanation) {
    return h('ol', {class: 'worlds'}, explanation.explanations.map((one, rank) => {
      const changes = one.changed.map((variable) => ({variable, value: one.world[variable], read: explanation.world[variable]}));
      return h('li', {}, h('button', {type: 'button', class: 'world', 'aria-pressed': String(rank === view.chosen), 'data-key': `world ${rank}`, onclick: () => {
        view.chosen = rank;
        view.seen.show();
        shown.show();
      }}, h('span', {class: 'text'}, one.text), h('span', {class: 'warning'}, one.satisfied ? '' : '! gives another output'),
        h('span', {class: 'figure'}, percent(one.probability)), bar(one.probability)),
      h('p', {class: 'changes'}, changes.length === 0 ? 'as read' : changesOf(changes)));
    }));
  }

  // A world as a table of values, laid out as the cells are.
  function gridOf(world, read) {
    const {block} = run.layout, columns = run.layout.columns || world.length, rows = [];
    world.forEach((value, variable) => {
      if (variable % columns === 0) rows.push(h('tr', {}));
      const values = valuesOf(run.worlds, variable), differs = value !== read[variable];
      rows.at(-1).append(h('td', {class: differs ? 'differs' : null, 'data-block-left': block > 0 && variable % columns % block === 0 && variable % columns > 0,
                                  'data-block-top': block > 0 && Math.floor(variable / columns) % block === 0 && variable >= columns},
        differs ? h('s', {}, values[read[variable]]) : null, values[value]));
    });
    return h('table', {class: 'grid'}, h('caption', {class: 'visually-hidden'}, 'The nearest world that gives the output'), h('tbody', {}, rows));
  }

  function conflictsOf(explanation) {
    const pairs = explanation.conflicts ?? [];
    if (pairs.length > 0) {
      return h('ul', {class: 'conflicts'}, pairs.slice(0, kMostTold).map(([one, other]) => h('li', {}, lookAt(one, names[one]), ' and ', lookAt(other, names[other]),
        ` are both ${valuesOf(run.worlds, one)[explanation.world[one]]}`)), pairs.length > kMostTold ? h('li', {}, `and ${number(pairs.length - kMostTold)} more`) : null);
    }
    const violated = explanation.violated ?? [];
    return violated.length === 0 ? null : h('ul', {class: 'conflicts'}, violated.slice(0, kMostTold).map((text) => h('li', {}, text)),
      violated.length > kMostTold ? h('li', {}, `and ${number(violated.length - kMostTold)} more`) : null);
  }

  function searched(explanation) {
    const wrong = (explanation.conflicts ?? explanation.violated ?? []).length;
    const parts = [h('div', {}, h('h3', {}, wrong === 0 ? 'No conflict' : count(wrong, 'conflict', 'conflicts')),
      wrong === 0 ? h('p', {}, `What was read is ${explanation.output}.`) : conflictsOf(explanation))];
    if (explanation.explanation) {
      const {world} = explanation, best = explanation.explanation;
      const changes = best.flatMap((value, variable) => value === world[variable] ? [] : [{variable, value, read: world[variable]}]);
      parts.push(h('div', {}, h('h3', {}, `Nearest that is ${explanation.output}`),
        h('p', {}, changes.length === 0 ? 'It is what was read.' : `${number(explanation.gap, 3)} nats below what was read` +
                                                                    (explanation.proven ? '; there is none nearer.' : '; the search gave up, there may be a nearer one.')),
        run.layout.columns > 0 ? gridOf(best, world) : null, changes.length === 0 ? null : h('p', {class: 'changes'}, changesOf(changes))));
    } else {
      parts.push(h('div', {}, h('h3', {}, 'None near'), h('p', {}, `No world within ${number(explanation.nats)} nats of the one read is ${explanation.output}` +
                                                                 (explanation.proven ? '.' : ', as far as was searched.'))));
    }
    return h('div', {class: 'searched'}, parts);
  }

  function influential(explanation) {
    const most = Math.max(1e-12, ...explanation.matters.map(({weight}) => weight));
    return [h('h3', {}, 'What matters most'), h('ol', {class: 'matters'}, explanation.matters.map(({name, weight, read, probability}) =>
      h('li', {}, lookAt(names.indexOf(name), name), bar(weight / most), h('span', {class: 'figure'}, number(weight, 3)),
        h('span', {class: 'quiet'}, `read as ${read} (${percent(probability)})`))))];
  }

  const shown = {
    element: h('section', {class: 'explanation', 'aria-labelledby': 'explained'}, title, told, body),
    show() {
      const {explanation} = view.answer;
      if (!explanation) {
        say(told, 'This run has no explanation of that.');
        refill(body);
        return;
      }
      say(title, view.output === null ? 'Explanation' : 'Explanation of what is known');
      const probability = explanation.probability === undefined || explanation.probability === null ? '' : ` (${percent(explanation.probability)})`;
      refill(told, `Of `, h('b', {class: 'text'}, explanation.output), probability,
             explanation.explanations ? '. Choose a world to see it in the picture.' : '.');
      refill(body, explanation.explanations ? ranked(explanation) : explanation.matters ? influential(explanation) : searched(explanation));
    },
  };
  return shown;
}
