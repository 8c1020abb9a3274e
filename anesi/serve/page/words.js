// Numbers and names as people read them.

const kSpace = '\u00a0';

// Few digits where they say enough, more towards 0 and 1, where they matter.
export function percent(share) {
  if (share === null || share === undefined || Number.isNaN(share)) return '–';
  if (share <= 0) return `0${kSpace}%`;
  if (share >= 1) return `100${kSpace}%`;
  if (share < 0.0001) return `<${kSpace}0.01${kSpace}%`;
  if (share > 0.9999) return `>${kSpace}99.99${kSpace}%`;
  return `${(100 * share).toFixed(share < 0.01 || share > 0.99 ? 2 : 1)}${kSpace}%`;
}

export function number(value, digits = 4) {
  if (value === null || value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  if (Number.isInteger(value)) return value.toLocaleString('en').replaceAll(',', '\u202f');
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(digits)));
}

export function count(value, one, more) {
  return `${number(value)} ${value === 1 ? one : more}`;
}

export function duration(seconds) {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds), two = (value) => String(value).padStart(2, '0');
  const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)} h` : `${minutes}:${two(whole % 60)} min`;
}

// What values of a variable are called; `space` is `worlds` or `outputs` of /api/run.
export function valuesOf(space, variable) {
  return space.values.length === 1 ? space.values[0] : space.values[variable];
}

export function likeliest(belief) {
  let best = 0;
  for (let value = 1; value < belief.length; ++value) if (belief[value] > belief[best]) best = value;
  return best;
}

// The key that stands for a value: its name where all names are single letters, else its place, counted from 1.
export function keysOf(values) {
  return values.every((name) => name.length === 1) ? values : values.map((_, value) => value < 9 ? String(value + 1) : '');
}
