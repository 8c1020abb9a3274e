// What a run is: task, model, data and figures.

import {h, refill} from './dom.js';
import {count, number} from './words.js';

// Any JSON as nested lists of terms.
function treeOf(value) {
  if (value === null) return '–';
  if (Array.isArray(value)) {
    if (value.every((one) => one === null || typeof one !== 'object')) return value.map((one) => number(one)).join(', ') || '–';
    return h('ol', {class: 'tree'}, value.map((one) => h('li', {}, treeOf(one))));
  }
  if (typeof value === 'object') return termsOf(Object.entries(value).map(([name, one]) => [name.replaceAll('_', ' '), treeOf(one)]));
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return number(value);
}

function termsOf(pairs) {
  return h('dl', {class: 'terms'}, pairs.filter(([, value]) => value !== null).flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

const kExplains = {model: 'q itself: worlds ranked by q(w|y,P)', search: 'a search for the nearest world', influence: 'what matters most to the output'};

export function showRun(content, {run}) {
  const domains = run.model === 0 ? [] : [...new Set(run.worlds.domains)];
  refill(content, h('h1', {}, run.name), h('p', {class: 'lead'}, run.summary),
    h('section', {}, h('h2', {}, 'What it is'), termsOf([
      ['task', run.task], ['preset', run.preset], ['state', run.state], ['anesi', run.version],
      ['worlds', run.model === 0 ? null : `${count(run.worlds.count, 'variable', 'variables')} of ${domains.join(' or ')} values`],
      ['outputs', run.model === 0 ? null : count(run.outputs.count, 'variable', 'variables')],
      ['inputs', run.model === 0 ? null : run.input.kind === 'images'
        ? `${number(run.input.parts)} pictures of ${run.input.height} by ${run.input.width}, ${run.input.channels === 1 ? 'grey' : 'in colour'}`
        : `${number(run.input.count)} numbers`],
      ['examples', run.splits ? Object.entries(run.splits).map(([name, size]) => `${name} ${number(size)}`).join(', ') : null],
      ['data', run.origin ?? null], ['explained by', kExplains[run.explains_by] ?? null],
      ['pruned', run.model === 0 ? null : run.prunes ? 'yes: what cannot be is ruled out' : 'no']])),
    h('section', {}, h('h2', {}, 'Figures'), run.result ? treeOf(run.result) : h('p', {class: 'quiet'}, 'Training has not finished.'),
      h('p', {}, h('a', {href: '/api/report'}, 'The report’s figures as JSON'))));
}
