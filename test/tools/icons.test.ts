import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import t from 'tap';

type Icon = { name: string; size: number; full: boolean };
type Icons = { ICONS: Icon[]; drawIcon(icon: Icon): Buffer };

const root = new URL('../../../', import.meta.url);

/** Red, green, blue and alpha of a PNG that `tools/icons/draw.mjs` has written: one part of data, rows without a filter. */
function pixelsOf(png: Buffer): { size: number; pixels: Buffer } {
  const size = png.readUInt32BE(16);
  const at = png.indexOf('IDAT');
  const rows = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
  const row_bytes = size * 4 + 1;
  const row = (index: number) => rows.subarray(index * row_bytes + 1, (index + 1) * row_bytes);
  return { size, pixels: Buffer.concat(Array.from({ length: size }, (_, index) => row(index))) };
}

t.test('the icons are as the drawing is', async (t) => {
  const { ICONS, drawIcon } = (await import(new URL('tools/icons/draw.mjs', root).href)) as Icons;
  t.equal(ICONS.length, 4);
  for (const icon of ICONS) {
    const png = readFileSync(new URL(`src/edge/pages/files/${icon.name}`, root));
    t.ok(png.length < 20_000, `${icon.name}: ${png.length} bytes`);
    const { size, pixels } = pixelsOf(png);
    t.equal(size, icon.size);
    t.equal(pixels[3], icon.full ? 255 : 0, 'the corner');
    // Drawing a large one takes seconds.
    if (size < 200) t.ok(pixels.equals(drawIcon(icon)), `${icon.name} is drawn anew by npm run spool -- icons`);
  }
});
