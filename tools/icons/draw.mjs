/*
 * Draws the icons for home screens from `src/edge/pages/files/spool.svg`. Of an SVG it knows what that drawing has: rectangles
 * and circles, filled or stroked.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';

const FOLDER = new URL('../../src/edge/pages/files/', import.meta.url);
const VIEW = 32;
/** Each pixel is the mean of so many times so many points. */
const POINTS = 8;

/** `full`: the ground fills the square, as systems cut their own form out of it or round its corners themselves. */
export const ICONS = [
  { name: 'icon_180.png', size: 180, full: true },
  { name: 'icon_192.png', size: 192, full: false },
  { name: 'icon_512.png', size: 512, full: false },
  { name: 'icon_maskable_512.png', size: 512, full: true },
];

/** The pixels of an icon: red, green, blue and alpha, row by row. */
export const drawIcon = ({ size, full }) => {
  const shapes = shapesOf(readFileSync(new URL('spool.svg', FOLDER), 'utf8'), { full });
  const pixels = Buffer.alloc(size * size * 4);
  for (let at = 0; at < size * size; at++) {
    const sum = [0, 0, 0, 0];
    for (let point = 0; point < POINTS * POINTS; point++) {
      const x = (((at % size) + ((point % POINTS) + 0.5) / POINTS) * VIEW) / size;
      const y = ((Math.floor(at / size) + (Math.floor(point / POINTS) + 0.5) / POINTS) * VIEW) / size;
      const colour = shapes.findLast(({ holds }) => holds(x, y))?.colour;
      if (colour !== undefined)
        [...colour, 255].forEach((part, index) => {
          sum[index] += part;
        });
    }
    const covered = sum[3] / 255;
    const mean = covered === 0 ? [0, 0, 0] : sum.slice(0, 3).map((part) => Math.round(part / covered));
    pixels.set([...mean, Math.round((covered * 255) / (POINTS * POINTS))], at * 4);
  }
  return pixels;
};

const shapesOf = (svg, { full }) =>
  [...svg.matchAll(/<(rect|circle) ([^>]*)\/>/g)].map(([, kind, text]) => {
    const given = Object.fromEntries([...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
    const number = (name, otherwise = 0) => Number(given[name] ?? otherwise);
    if (kind === 'rect') {
      const [width, height, radius] = [number('width'), number('height'), full ? 0 : number('rx')];
      return { colour: colourOf(given.fill), holds: inRectangle(width, height, radius) };
    }
    const [cx, cy, r, half] = [number('cx'), number('cy'), number('r'), number('stroke-width') / 2];
    const from = given.fill === 'none' ? r - half : 0;
    const to = given.fill === 'none' ? r + half : r;
    const holds = (x, y) => {
      const away = Math.hypot(x - cx, y - cy);
      return away >= from && away <= to;
    };
    return { colour: colourOf(given.fill === 'none' ? given.stroke : given.fill), holds };
  });

const inRectangle = (width, height, radius) => (x, y) => {
  const dx = Math.max(radius - x, x - (width - radius), 0);
  const dy = Math.max(radius - y, y - (height - radius), 0);
  return x <= width && y <= height && Math.hypot(dx, dy) <= radius;
};

const colourOf = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

const png = (pixels, size) => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const rows = Array.from({ length: size }, (_, row) =>
    Buffer.concat([Buffer.of(0), pixels.subarray(row * size * 4, (row + 1) * size * 4)]),
  );
  const body = deflateSync(Buffer.concat(rows), { level: 9 });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', body), chunk('IEND', Buffer.alloc(0))]);
};

const chunk = (type, data) => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
};

/** Writes all of them beside the drawing. */
export const writeIcons = () => {
  for (const { name, size, full } of ICONS) writeFileSync(new URL(name, FOLDER), png(drawIcon({ size, full }), size));
};
