// How q chose, one variable after another: what was on offer, how likely, and what the pruner ruled out.

import {button, h, refill, say} from './dom.js';
import {number, percent} from './words.js';

const kMostSteps = 40;   // that are shown at first
const kMostValues = 12;  // of a step that are shown one by one

function boxOf(step, value) {
  const allowed = step.allowed[value], share = step.probabilities[value];
  return h('span', {class: `box${value === step.chosen ? ' chosen' : ''}${allowed ? '' : ' pruned'}`, '--share': allowed ? share : 0,
                    title: `${step.values[value]}: ${allowed ? percent(share) : 'ruled out'}`}, step.values[value]);
}

// A step of few values shows each; one of many the likeliest.
function valuesOfStep(step) {
  const all = step.values.map((_, value) => value);
  if (all.length <= kMostValues) return all;
  const best = all.filter((value) => step.allowed[value]).sort((one, other) => step.probabilities[other] - step.probabilities[one]).slice(0, 6);
  return (best.includes(step.chosen) ? best : [step.chosen, ...best]).sort((one, other) => one - other);
}

function rowOf(step) {
  const pruned = step.allowed.filter((allowed) => !allowed).length, shown = valuesOfStep(step);
  return h('tr', {}, h('th', {scope: 'row'}, step.name),
    h('td', {class: 'chose'}, step.values[step.chosen] ?? '–'), h('td', {class: 'figure'}, percent(step.probabilities[step.chosen])),
    h('td', {}, h('span', {class: 'boxlist', 'aria-hidden': 'true'}, shown.map((value) => boxOf(step, value)),
                  shown.length < step.values.length ? h('span', {class: 'quiet'}, `of ${number(step.values.length)}`) : null)),
    h('td', {class: 'figure'}, pruned === 0 ? '' : number(pruned)));
}

export function makeRollout(view) {
  const note = h('p', {class: 'quiet hint'}), table = h('tbody', {}), more = h('p', {});
  let all = false, steps = [];
  const outer = h('details', {class: 'rollout', ontoggle: () => {
    if (outer.open) view.followRollout({input: view.question(), evidence: view.evidence()});
  }}, h('summary', {}, h('h2', {}, 'Rollout')), note,
    h('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Choices'}, h('table', {class: 'steps'},
      h('thead', {}, h('tr', {}, ['variable', 'chosen', 'probability', 'on offer', 'ruled out'].map((name) => h('th', {scope: 'col'}, name)))), table)), more);

  function draw() {
    const shown = all ? steps : steps.slice(0, kMostSteps);
    refill(table, shown.map(rowOf));
    refill(more, shown.length < steps.length ? button(`Show all ${number(steps.length)} choices`, () => {
      all = true;
      draw();
    }) : null);
  }

  return {
    element: outer,
    wanted: () => outer.open,
    show(taken) {
      steps = taken;
      say(note, view.run.prunes ? 'Outlined: chosen. Struck out: ruled out by the pruner. The fuller, the likelier.' : 'Outlined: chosen. The fuller, the likelier.');
      draw();
    },
    refuse(message) {
      steps = [];
      say(note, message);
      draw();
    },
  };
}
