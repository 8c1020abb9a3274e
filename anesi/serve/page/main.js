// The page: which view is shown, what all views share, and what is said when something fails.
//
// Views are addresses (#/examples, #/example/test/7, #/training, #/run), so that each can be linked. A view is a function
// of its container, the run and its parameters; it returns what is to be done when it is left.

import {button, h, mark, refill} from './dom.js';
import {showExample} from './example.js';
import {showExamples} from './examples.js';
import {showRun} from './run.js';
import {ask} from './server.js';
import {startTheme} from './theme.js';
import {showTraining} from './training.js';

const kViews = {examples: showExamples, example: showExample, training: showTraining, run: showRun};
const kAskAgain = 2000;  // milliseconds, until there is a model

const content = document.getElementById('content');
const trouble = document.getElementById('trouble');
let leave = () => {};
let shown = 0;  // counts views, so that one that was left writes nothing

// Says in one line what failed, and offers to try again.
function fail(error, retry) {
  const lost = error.status === 0;
  refill(trouble, h('p', {class: 'trouble'},
    h('span', {}, lost ? `${error.message} Start it again: ` : error.message, lost && h('code', {}, 'anesi serve RUN')),
    button('Try again', () => {
      settle();
      retry();
    })));
  if (!('status' in error)) throw error;  // a mistake of the page's own
}

// Nothing is wrong any more.
function settle() {
  trouble.replaceChildren();
}

function address() {
  const [path, text] = location.hash.replace(/^#\/?/, '').split('?');
  const [view, ...rest] = path.split('/').map(decodeURIComponent);
  return {view: view in kViews ? view : 'examples', rest, parameters: Object.fromEntries(new URLSearchParams(text ?? ''))};
}

function introduce(run) {
  document.getElementById('name').textContent = run.name;
  document.getElementById('task').textContent = run.state === 'training' ? `${run.task}, training` : run.task;
  document.title = `${run.name} · anesi`;
}

async function show() {
  const {view, rest, parameters} = address();
  const turn = ++shown;
  for (const link of document.querySelectorAll('nav a')) mark(link, 'aria-current', link.dataset.view === view && 'page');
  leave();
  leave = () => {};
  try {
    const run = await ask('/api/run');
    if (turn !== shown) return;
    settle();
    introduce(run);
    if (run.model === 0 && view !== 'training' && view !== 'run') {
      refill(content, h('h1', {}, 'No model yet'), h('p', {}, 'Training has just begun. ', h('a', {href: '#/training'}, 'Watch it'),
                                                     ', or stay: this page goes on by itself.'));
      const timer = setTimeout(show, kAskAgain);
      leave = () => clearTimeout(timer);
      return;
    }
    const page = {run, rest, parameters, fail, settle, current: () => turn === shown, again: show};
    const left = (await kViews[view](content, page)) ?? (() => {});
    if (turn === shown) leave = left;
    else left();
  } catch (error) {
    if (turn === shown) fail(error, show);
  }
}

startTheme(document.getElementById('theme'));
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();  // the address says which view is shown
  content.focus();
});
addEventListener('hashchange', async () => {
  await show();
  content.focus({preventScroll: true});
  scrollTo(0, 0);
});
show();
