// One example: what was seen, believed, predicted and explained; and what follows from changing any of it.
//
// The view holds what was changed and asks what follows. Its parts (cells, panel, lists) show the answer and call
// select, fix, explain, repaint and setNumber; none knows of another.

import {makeCells} from './cells.js';
import {button, h, mark, refill, say} from './dom.js';
import {neighbour} from './examples.js';
import {makeExplanation} from './explanation.js';
import {makeMap} from './map.js';
import {makeNumbers} from './numbers.js';
import {bytesOf, textOf} from './pictures.js';
import {makePrediction} from './prediction.js';
import {makeRollout} from './rollout.js';
import {ask, latest, query} from './server.js';
import {makeVariable} from './variable.js';
import {number, percent, valuesOf} from './words.js';

const kTop = 5;          // outputs and explanations
const kFewRows = 3;      // of cells
const kWidest = 10;      // cells of a row that is not broken
const kAskAgain = 1000;  // milliseconds, until this example was looked at
const kSlow = 300;       // milliseconds, after which it is said that an answer is awaited

let visited = null;  // the example that was looked at last: #/example without more leads there

// "3.7,5.0" in an address: variable 3 is 7, variable 5 is 0. What the run has no room for is passed over.
function readKnown(text, worlds) {
  const known = new Map();
  for (const pair of (text ?? '').split(',')) {
    const [variable, value] = pair.split('.').map(Number);
    if (Number.isInteger(variable) && Number.isInteger(value) && variable >= 0 && value >= 0 && variable < worlds.count &&
        value < worlds.domains[variable]) {
      known.set(variable, value);
    }
  }
  return known;
}

// An output that is known: as people write it and, where it was told so, as values.
function readOutput({output, values}) {
  if (output === undefined) return null;
  const told = (values ?? '').split(',').map(Number);
  return {text: output, values: values === undefined || told.some((value) => !Number.isInteger(value)) ? null : told};
}

class ExampleView {
  constructor(page, input, parameters) {
    this.page = page;
    this.run = page.run;
    this.input = input;
    this.parts = input.parts?.map(bytesOf) ?? [];  // as they are now
    this.painted = new Set();                      // parts that differ from the data
    this.numbers = input.numbers?.slice() ?? [];
    this.edited = new Set();                       // numbers that differ from the data
    this.known = readKnown(parameters.known, page.run.worlds);
    this.output = readOutput(parameters);  // null: none is known
    this.selected = Math.min(page.run.worlds.count - 1, Math.max(0, Math.floor(Number(parameters.variable) || 0)));
    this.chosen = 0;     // the explanation that is marked in the picture
    this.answer = null;  // {beliefs, probability, prediction, explanation}
    this.judged = null;  // its row in the list of examples
    this.follow = latest((question, outdated) => this.ask(question, outdated));
    this.followRollout = latest((question) => this.askRollout(question));
  }

  get changed() {
    return this.painted.size > 0 || this.edited.size > 0;
  }

  // The input as the interface names it.
  question() {
    const {split, index} = this.input, input = {split, index};
    if (this.painted.size > 0) input.parts = Object.fromEntries([...this.painted].map((part) => [part, textOf(this.parts[part])]));
    if (this.edited.size > 0) input.numbers = Object.fromEntries([...this.edited].map((at) => [at, this.numbers[at]]));
    return input;
  }

  evidence() {
    const evidence = {};
    if (this.known.size > 0) evidence.known = Object.fromEntries(this.known);
    if (this.output !== null) evidence.output = this.output.values ?? this.output.text;
    return evidence;
  }

  // Everything that follows from the question: one request where something is known, else two side by side.
  async answerTo({input, evidence}) {
    if (Object.keys(evidence).length > 0) {
      const answer = await ask('/api/condition', {input, ...evidence, top: kTop});
      return {...answer, probability: Math.exp(answer.log_prob)};
    }
    const [prediction, explanation] = await Promise.all([ask('/api/predict', {input, top: kTop}), ask('/api/explain', {input, top: kTop})]);
    return {beliefs: prediction.beliefs, probability: null, prediction, explanation};
  }

  async ask(question, outdated) {
    const slow = setTimeout(() => mark(this.verdict, 'data-waiting', true), kSlow);
    try {
      const answer = await this.answerTo(question);
      if (!this.page.current() || (outdated() && this.answer === null)) return;
      this.page.settle();
      this.answer = answer;
      this.impossible(null);
      this.show();
      performance.measure('anesi:followed', {start: question.at, end: performance.now()});
      if (!outdated() && this.rollout.wanted()) this.followRollout(question);
    } catch (error) {
      if (!this.page.current()) return;
      if (error.status === 422 || error.status === 400) this.impossible(error.message);
      else this.page.fail(error, () => this.changedNow());
    } finally {
      clearTimeout(slow);
      mark(this.verdict, 'data-waiting', false);
    }
  }

  async askRollout({input, evidence}) {
    if (!this.run.chooses) return;
    try {
      const answer = await ask('/api/rollout', {input, ...evidence});
      if (this.page.current()) this.rollout.show(answer.steps);
    } catch (error) {
      if (this.page.current()) this.rollout.refuse(error.message);
    }
  }

  // Something was changed: says so at once, and asks what follows.
  changedNow() {
    this.chosen = 0;
    this.showEvidence();
    this.remember();
    this.follow({input: this.question(), evidence: this.evidence(), at: performance.now()});
  }

  select(variable, {focus = false} = {}) {
    this.selected = variable;
    this.variable.show();
    this.seen.mark();
    if (focus) this.seen.focus(variable);
    this.remember();
  }

  // Makes a variable known, or frees it where it was known to be so, or where value is null.
  fix(variable, value) {
    if (value === null || this.known.get(variable) === value) this.known.delete(variable);
    else this.known.set(variable, value);
    this.changedNow();
  }

  // Takes an output for known, or frees it where it was.
  explain(text) {
    this.output = text === null || text === this.output?.text ? null : {text, values: this.valuesNamed(text)};
    this.changedNow();
  }

  // Not every task reads outputs as it writes them; those that were told are known by their values.
  valuesNamed(text) {
    const {prediction, explanation} = this.answer ?? {};
    if (explanation?.output === text) return explanation.output_values ?? null;
    return prediction?.outputs.find((one) => one.text === text)?.output ?? null;
  }

  repaint(part, bytes) {
    const original = bytesOf(this.input.parts[part]);
    this.parts[part] = bytes ?? original;
    if (this.parts[part].every((value, at) => value === original[at])) this.painted.delete(part);
    else this.painted.add(part);
    this.seen.repaint?.(part);
    this.changedNow();
  }

  setNumber(at, value) {
    this.numbers[at] = value ?? this.input.numbers[at];
    if (this.numbers[at] === this.input.numbers[at]) this.edited.delete(at);
    else this.edited.add(at);
    this.changedNow();
  }

  clear() {
    this.known.clear();
    this.output = null;
    this.numbers = this.input.numbers?.slice() ?? [];
    this.edited.clear();
    this.numbersTable?.show();
    this.prediction.reset();
    this.restore();
  }

  // The address names the example and what is known of it; what was drawn it does not.
  remember() {
    const {split, index} = this.input;
    const known = [...this.known].map(([variable, value]) => `${variable}.${value}`).join(',');
    visited = `#/example/${split}/${index}`;
    history.replaceState(null, '', visited + query({variable: this.selected || null, known, output: this.output?.text, values: this.output?.values?.join(',')}));
  }

  mount(content) {
    const {run, input} = this;
    const go = (index) => {
      location.hash = `#/example/${input.split}/${index}`;
    };
    const [before, after] = [-1, 1].map((step) => neighbour(run, input.split, input.index, step));
    this.status = h('p', {class: 'visually-hidden', role: 'status'});
    this.evidenceLine = h('div', {class: 'evidence'});
    this.refusal = h('p', {class: 'refusal', role: 'alert'});
    this.verdict = h('p', {class: 'verdictline'}, '\u00a0');
    this.numbersTable = run.input.kind === 'numbers' ? makeNumbers(this) : null;
    const pictured = run.input.kind === 'images' && run.input.parts === run.worlds.count;
    this.seen = pictured && run.walk ? makeMap(this) : makeCells(this, pictured);
    this.variable = makeVariable(this, pictured);
    this.prediction = makePrediction(this);
    this.explanation = makeExplanation(this);
    this.rollout = makeRollout(this);
    // The selected variable stands where it is seen together with its cell: below few rows, beside many.
    const tall = run.worlds.count > kFewRows * Math.min(run.layout.columns || kWidest, kWidest);
    refill(content,
      h('div', {class: 'heading'},
        h('h1', {}, `Example ${number(input.index)}`, h('span', {class: 'quiet'}, ` of ${input.split}`)),
        h('div', {class: 'tools'},
          button('← Previous', () => go(before), {disabled: before === null}),
          button('Next →', () => go(after), {disabled: after === null}))),
      this.verdict, this.evidenceLine, this.refusal, this.status,
      h('div', {class: tall ? 'example tall' : 'example'},
        h('div', {class: 'left'}, this.seen.element, tall ? null : this.variable.element, this.numbersTable?.element),
        h('div', {class: 'right'}, this.prediction.element, tall ? this.variable.element : this.explanation.element),
        tall ? this.explanation.element : null,
        run.chooses && this.rollout.element));
    this.showEvidence();
    this.variable.show();
  }

  show() {
    this.seen.show();
    this.variable.show();
    this.prediction.show();
    this.explanation.show();
    this.showVerdict();
    this.showEvidence();
    say(this.status, `Predicted ${this.prediction.best()}`);
  }

  // Right or wrong is what the list of examples says, which knows what a label means; it may not have come to this one.
  async judge() {
    const {split, index} = this.input;
    try {
      const answer = await ask('/api/examples' + query({split, from: index, count: 1}));
      this.judged = answer.rows.find((row) => row.index === index) ?? null;
      if (!this.page.current()) return;
      if (this.judged !== null) this.showVerdict();
      else if (answer.looked_at < answer.of) setTimeout(() => this.page.current() && this.judge(), kAskAgain);
    } catch {
      // Nobody misses it: the list says what is wrong.
    }
  }

  showVerdict() {
    const {label} = this.input, asIs = !this.changed && this.known.size === 0 && this.output === null;
    const right = asIs ? this.judged?.right ?? null : null;
    refill(this.verdict,
      h('span', {}, 'predicted ', h('b', {}, this.prediction.best())), ' · ',
      h('span', {}, this.changed ? 'label of the unchanged input ' : 'label ', h('b', {}, label ?? 'unknown')),
      right === null ? null : h('span', {class: right ? 'verdict' : 'verdict wrong'}, right ? ' ✓ right' : ' ✕ wrong'));
  }

  // What is known or changed, each with a way to take it back.
  showEvidence() {
    const {run} = this, free = (text, act, key) => button(`${text} ✕`, act, {class: 'chip', 'aria-label': `${text}: take back`, 'data-key': key});
    const chips = [...this.known].map(([variable, value]) =>
      free(`${run.worlds.names[variable]} is ${valuesOf(run.worlds, variable)[value]}`, () => this.fix(variable, null), `known ${variable}`));
    if (this.output !== null) chips.push(free(`output is ${this.output.text}`, () => this.explain(null), 'output'));
    if (this.painted.size > 0) {
      const [part] = this.painted, many = this.painted.size > 1;
      chips.push(free(many ? `${number(this.painted.size)} repainted` : `${this.partName(part)} repainted`, () => this.restore(), 'painted'));
    }
    for (const at of this.edited) {
      chips.push(free(`${run.input.names?.[at] ?? `number ${at + 1}`} changed`, () => {
        this.setNumber(at, null);
        this.numbersTable.show();
      }, `number ${at}`));
    }
    if (chips.length === 0) {
      refill(this.evidenceLine, h('span', {class: 'quiet'}, 'Nothing is fixed or changed. ', h('span', {class: 'wide'}, 'Choose a value of a variable, or an output, and see what follows.')));
      return;
    }
    const probability = this.refusal.textContent === '' ? this.answer?.probability : null;
    refill(this.evidenceLine, button('Clear all', () => this.clear(), {'data-key': 'clear'}), chips,
           probability === null || probability === undefined ? null : h('span', {class: 'quiet'}, `What is known has probability ${percent(probability)}.`));
  }

  partName(part) {
    return this.run.input.parts === this.run.worlds.count ? this.run.worlds.names[part] : `part ${part + 1}`;
  }

  // All pictures as they were.
  restore() {
    for (const part of this.painted) {
      this.parts[part] = bytesOf(this.input.parts[part]);
      this.seen.repaint?.(part);
    }
    this.painted.clear();
    this.variable.show();
    this.changedNow();
  }

  // What was asked has no answer: says so beside what is known, and leaves the last answer as it was.
  impossible(message) {
    say(this.refusal, message ?? '');
    mark(this.refusal, 'data-shown', message !== null);
    if (message !== null) this.showEvidence();
  }

  // The world that is marked in the picture beside what was read, or null.
  explainedWorld() {
    const explanation = this.answer?.explanation;
    return explanation?.explanations?.[this.chosen]?.world ?? explanation?.explanation ?? null;
  }
}

export async function showExample(content, page) {
  const {run, rest, parameters, current} = page;
  if (rest.length < 2) {
    location.replace(visited ?? `#/example/${'test' in run.splits ? 'test' : Object.keys(run.splits)[0]}/0`);
    return undefined;
  }
  const [split, index] = rest;
  const input = await ask('/api/input' + query({split, index}));
  if (!current()) return undefined;
  const view = new ExampleView(page, input, parameters);
  view.mount(content);
  view.changedNow();
  view.judge();
  return undefined;
}
