// How training went, or goes: curves, their figures, and some examples as they are read now.

import {chartOf} from './chart.js';
import {h, refill, say} from './dom.js';
import {ask, query} from './server.js';
import {duration, number, percent} from './words.js';

const kAskAgain = 2000;  // milliseconds
const kExamples = 6;

function tableOf({columns, rows}) {
  return h('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Figures'}, h('table', {class: 'figures'},
    h('thead', {}, h('tr', {}, columns.map((name) => h('th', {scope: 'col'}, name)))),
    h('tbody', {}, rows.map((row) => h('tr', {}, row.map((value) => h('td', {class: 'figure'}, number(value))))))));
}

// A chart with its table. Both are made anew only where something is new; an open table stays open.
function makeChart() {
  const picture = h('div', {class: 'chart'}), table = h('div', {}), title = h('h2', {});
  const details = h('details', {}, h('summary', {}, 'Figures'), table);
  let before = '';
  return {
    element: h('figure', {}, title, picture, details),
    show(chart) {
      const now = JSON.stringify(chart);
      if (now === before) return;
      before = now;
      say(title, chart.title);
      const drawn = chartOf(chart.svg, chart.title);
      refill(picture, drawn ?? h('p', {}, 'This chart cannot be shown.'));
      details.hidden = !chart.table;
      if (chart.table) refill(table, tableOf(chart.table));
    },
  };
}

export async function showTraining(content, {run, fail, settle, current}) {
  const status = h('p', {role: 'status'}, 'Looking …'), none = h('p', {class: 'quiet'}), place = h('div', {class: 'charts'}), list = h('ol', {class: 'now'});
  const examples = h('section', {hidden: true}, h('h2', {}, 'Read now'), list);
  refill(content, h('h1', {}, 'Training'), status, none, place, examples);
  const charts = [];
  let timer = null, next = 0, model = run.model;

  async function showNow(split) {
    const {rows} = await ask('/api/examples' + query({split, filter: 'all', from: 0, count: kExamples}));
    examples.hidden = rows.length === 0;
    refill(list, rows.map((row) => h('li', {}, h('a', {href: `#/example/${split}/${row.index}`, 'data-key': row.index}, `example ${number(row.index)}`),
      ` read ${row.read}, predicted `, h('b', {}, row.predicted), ` (${percent(row.probability)}), label ${row.label ?? '–'} `,
      h('span', {class: row.right ? 'verdict' : 'verdict wrong'}, row.right ? '✓' : '✕'))));
  }

  async function load() {
    try {
      const told = await ask('/api/training' + query({after: next}));
      if (!current()) return;
      settle();
      next = told.next;
      const training = told.state === 'training';
      say(status, {training: `Training: ${told.phase ?? 'about to begin'}`, finished: 'Finished', stopped: 'Stopped'}[told.state] +
                  (told.seconds === null || told.seconds === undefined ? '' : `, ${duration(told.seconds)}`));
      told.charts.forEach((chart, at) => {
        if (at === charts.length) {
          charts.push(makeChart());
          place.append(charts[at].element);
        }
        charts[at].show(chart);
      });
      say(none, told.charts.length > 0 ? '' : training ? 'Curves begin with the first evaluation.' : 'This run has no curves.');
      if (training) {
        timer = setTimeout(load, kAskAgain);
        if (model === 0) model = (await ask('/api/run')).model;
        if (model !== 0) await showNow('test');
      }
    } catch (error) {
      if (current()) fail(error, load);
    }
  }
  await load();
  return () => clearTimeout(timer);
}
