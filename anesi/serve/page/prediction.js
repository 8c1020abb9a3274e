// Predicted outputs with their probabilities; any of them, or one that is typed, can be taken for known.

import {bar, button, h, mark, refill, say} from './dom.js';
import {percent} from './words.js';

export function makePrediction(view) {
  const {run} = view;
  const decided = h('p', {class: 'decided'}), list = h('ol', {class: run.asks === null ? 'outputs' : 'outputs few'}), symbolic = h('p', {class: 'quiet'}), likely = h('p', {class: 'constrained'});
  const field = h('input', {id: 'output', name: 'output', autocomplete: 'off', spellcheck: 'false', placeholder: run.asks ?? ''});
  const known = h('form', {class: 'known', onsubmit: (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (text !== '' && text !== view.output?.text) view.explain(text);
  }}, h('label', {for: 'output'}, 'Suppose the output is'), field, h('button', {type: 'submit'}, 'Explain'));

  // Outputs that read the same are one line, as the program prints them.
  function merged(outputs) {
    const lines = new Map();
    for (const {text, probability} of outputs) lines.set(text, (lines.get(text) ?? 0) + probability);
    return [...lines];
  }

  return {
    element: h('section', {class: 'prediction', 'aria-labelledby': 'predicted'}, h('h2', {id: 'predicted'}, 'Predicted'), decided, list, symbolic, likely, known),
    // What is predicted, in words.
    best() {
      const prediction = view.answer?.prediction;
      if (!prediction) return '…';
      if (prediction.decided) return prediction.decided.probability > 0.5 ? prediction.decided.text : `not ${prediction.decided.text}`;
      return prediction.constrained?.text ?? prediction.outputs[0]?.text ?? prediction.symbolic;
    },
    reset() {
      field.value = '';
    },
    show() {
      const {prediction} = view.answer;
      const told = prediction.decided;
      refill(decided, told ? [h('b', {}, told.text), ' with probability ', h('b', {class: 'figure'}, percent(told.probability))] : []);
      refill(list, merged(prediction.outputs).map(([text, probability]) => {
        const row = h('button', {type: 'button', class: 'output', 'data-key': text, 'aria-pressed': String(view.output?.text === text), onclick: () => {
          field.value = view.output?.text === text ? '' : text;
          view.explain(text);
        }}, h('span', {class: 'text'}, text), h('span', {class: 'pin'}, view.output?.text === text ? 'known' : text === view.input.label && !view.changed ? 'label' : ''),
          h('span', {class: 'figure'}, percent(probability)), bar(probability));
        return h('li', {}, row);
      }));
      say(symbolic, `What was read gives ${prediction.symbolic}.`);
      refill(likely, prediction.constrained ? ['Most probable for “', run.asks ?? told?.text ?? '', '”: ', h('b', {}, prediction.constrained.text)] : []);
      if (view.output !== null && document.activeElement !== field) field.value = view.output.text;
      mark(field, 'aria-invalid', null);
    },
  };
}
