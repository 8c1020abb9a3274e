// Pictures: bytes as /api/input gives them, and canvases that show them.

export function bytesOf(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; ++at) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

export function textOf(bytes) {
  let letters = '';
  for (let at = 0; at < bytes.length; at += 8192) letters += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(letters);
}

// Bytes, channel by channel and row by row, as pixels of a canvas; one channel is grey.
function imageOf(bytes, {channels, height, width}) {
  const image = new ImageData(width, height), size = height * width;
  for (let pixel = 0; pixel < size; ++pixel) {
    for (let colour = 0; colour < 3; ++colour) {
      image.data[4 * pixel + colour] = bytes[(channels === 3 ? colour : 0) * size + pixel];
    }
    image.data[4 * pixel + 3] = 255;
  }
  return image;
}

// Puts a part at a place of a canvas, counted in pixels of the parts.
export function put(canvas, bytes, input, x = 0, y = 0) {
  canvas.getContext('2d').putImageData(imageOf(bytes, input), x, y);
}

// A canvas for one part. Where ink is light on a dark ground, the stylesheet turns it into ink on paper by day.
export function canvasFor(input, columns = 1, rows = 1) {
  const canvas = document.createElement('canvas');
  canvas.width = input.width * columns;
  canvas.height = input.height * rows;
  canvas.className = input.channels === 1 && input.ink === 'light' ? 'picture ink' : 'picture';
  canvas.setAttribute('aria-hidden', 'true');
  return canvas;
}

export function pictureOf(bytes, input) {
  const canvas = canvasFor(input);
  put(canvas, bytes, input);
  return canvas;
}
