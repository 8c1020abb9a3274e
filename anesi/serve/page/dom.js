// Elements, made and changed. Whatever comes from data becomes a text node or an attribute, never markup.

const kSvg = 'http://www.w3.org/2000/svg';

function furnish(made, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name.startsWith('--')) made.style.setProperty(name, value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// h('button', {type: 'button', 'aria-pressed': 'true', onclick: act, '--share': 0.5}, 'text', child): what is null or
// false is left out; a name that begins with "--" is a variable of the stylesheet.
export function h(tag, properties, ...children) {
  return furnish(document.createElement(tag), properties, children.flat());
}

export function svg(tag, properties, ...children) {
  return furnish(document.createElementNS(kSvg, tag), properties, children.flat());
}

// Sets or removes an attribute.
export function mark(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : value);
}

// Sets text where it differs, so that nothing is laid out anew for nothing.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Replaces what a container holds; whatever had the focus has it again afterwards, by its data-key.
export function refill(container, ...children) {
  const key = container.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  container.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  if (key !== undefined) container.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

// A bar of a share, with the same in words beside it by whoever calls.
export function bar(share, properties = {}) {
  return h('span', {class: 'bar', 'aria-hidden': 'true', '--share': Math.max(0, Math.min(1, share)), ...properties});
}

export function button(text, act, properties = {}) {
  return h('button', {type: 'button', onclick: act, ...properties}, text);
}
