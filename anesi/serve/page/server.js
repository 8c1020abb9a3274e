// Questions to the server, by the interface of docs/page.md.

export class Trouble extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;  // of HTTP; 0 where no server answered
  }
}

// A connection that the server has just closed is no reason to give up: nothing that is asked changes anything, so it
// can be asked twice.
async function fetchTwice(path, request) {
  try {
    return await fetch(path, request);
  } catch {
    return fetch(path, request);
  }
}

// The answer to a question: POST where there is a body, else GET. Throws Trouble.
export async function ask(path, body) {
  let response;
  try {
    response = await fetchTwice(path, body === undefined ? {} : {
      method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body),
    });
  } catch {
    throw new Trouble('The server does not answer.', 0);
  }
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Trouble(`The server's answer is no JSON (status ${response.status}).`, response.status);
  }
  if (!response.ok) throw new Trouble(answer.error ?? `The server says ${response.status}.`, response.status);
  return answer;
}

// A function that works on the latest question: at most one is in flight, and of those that wait only the last is
// asked. So whoever draws with the mouse never waits for what was drawn before.
export function latest(work) {
  let busy = false, waiting = null;
  return async function take(question) {
    waiting = {question};
    if (busy) return;
    busy = true;
    while (waiting !== null) {
      const next = waiting.question;
      waiting = null;
      await work(next, () => waiting !== null);
    }
    busy = false;
  };
}

// The address of a view, with parameters in the order given; those that are null are left out.
export function query(parameters) {
  const kept = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return kept.length === 0 ? '' : '?' + kept.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}
