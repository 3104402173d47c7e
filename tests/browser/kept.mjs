// SPDX-License-Identifier: Apache-2.0
// Pictures of the page that are kept in kept/, and how one of today is held against them.  Letters
// differ from machine to machine, so none are drawn; edges differ by shades, so pictures are kept at
// a quarter of their size, each pixel the mean of sixteen.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browser, newContext, rested } from './browser.mjs';
import { requests } from './made-up-events.mjs';
import { example, view } from './program.mjs';

const folder = fileURLToPath(new URL('./kept/', import.meta.url));
const scheduler = fileURLToPath(new URL('../golden/data/sched.ftrace', import.meta.url));
const SIZE = { width: 1600, height: 1000 };

/** Async slices, a counter, instants and threads of a server. */
function server() {
  const file = join(mkdtempSync(join(tmpdir(), 'kept-')), 'server.json');
  writeFileSync(file, JSON.stringify(requests()));
  return file;
}

/** What is shown, at which place, which part of it is kept, and what is done first. */
const SCENES = {
  calls: {
    of: example,
    hash: '#view=52000000-182000000&range=62000000-154500000&note=62000000-90000000~first',
    part: 'line',
    async act(page) {
      await page.locator('.list-view').click({ position: { x: 500, y: 3 + 2 * 18 + 8 } });
    },
  },
  whole: { of: example, hash: '', part: 'line' },
  events: { of: server, hash: '#view=0-42000000', part: 'line' },
  states: { of: () => scheduler, hash: '#tab=states', part: 'line' },
  flame: { of: example, hash: '#tab=flame', part: 'flame' },
};
export const SCHEMES = ['light', 'dark'];
export const NAMES = Object.keys(SCENES).flatMap((name) =>
  SCHEMES.map((scheme) => `${name}-${scheme}`),
);

async function clipOf(page, part) {
  const box = (selector) => page.locator(selector).first().boundingBox();
  if (part === 'flame') return box('.flame .scroller');
  const [top, tracks] = [await box('.overview'), await box('#tracks')];
  return { x: 0, y: top.y, width: SIZE.width, height: tracks.y + tracks.height - top.y };
}

/** In the page: a screenshot as red, green, blue of a quarter's size. */
async function quarter(source) {
  const bytes = Uint8Array.from(atob(source), (c) => c.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const g = new OffscreenCanvas(image.width, image.height).getContext('2d');
  g.drawImage(image, 0, 0);
  const from = g.getImageData(0, 0, image.width, image.height).data;
  const [width, height] = [Math.floor(image.width / 4), Math.floor(image.height / 4)];
  const small = new OffscreenCanvas(width, height);
  const s = small.getContext('2d');
  const to = s.createImageData(width, height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < 4; c++) {
        let sum = 0;
        for (let k = 0; k < 16; k++)
          sum += from[((4 * y + (k >> 2)) * image.width + 4 * x + (k & 3)) * 4 + c];
        to.data[(y * width + x) * 4 + c] = Math.round(sum / 16);
      }
  s.putImageData(to, 0, 0);
  const blob = await small.convertToBlob({ type: 'image/png' });
  return btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer())));
}

/** Shots until two are alike: everything that was asked for has come. */
async function settled(page, clip) {
  let last = '';
  for (let i = 0; i < 40; i++) {
    const shot = (await page.screenshot({ clip })).toString('base64');
    if (shot === last) return shot;
    last = shot;
    await rested(page);
  }
  throw new Error('the page does not come to rest');
}

/** A scene as a small PNG. */
export async function take(name) {
  const [scene, scheme] = name.split('-');
  const { of, hash, part, act } = SCENES[scene];
  const file = of();
  const viewer = await view(file);
  const context = await newContext({
    ...{ viewport: SIZE, colorScheme: scheme, reducedMotion: 'reduce', bypassCSP: true },
  });
  const page = await context.newPage();
  await page.addInitScript(() => {
    CanvasRenderingContext2D.prototype.fillText = () => undefined;
  });
  await page.goto(viewer.address + hash);
  await page.waitForSelector('.list-view');
  await page.addStyleTag({
    content:
      '*, ::placeholder { color: transparent !important; caret-color: transparent; }' +
      '.readout > * { visibility: hidden; }',
  });
  await rested(page);
  await act?.(page);
  await page.mouse.move(SIZE.width - 1, 1);
  await rested(page);
  const shot = await settled(page, await clipOf(page, part));
  const small = await page.evaluate(quarter, shot);
  await context.close();
  await viewer.stop();
  if (of === server) rmSync(file);
  return Buffer.from(small, 'base64');
}

export const pathOf = (name) => `${folder}${name}.png`;

export function keep(name, png) {
  writeFileSync(pathOf(name), png);
}

/** How many of the pixels differ by more than shades: a share; 1 where sizes do. */
export async function difference(name, png) {
  const page = await (await browser()).newPage();
  const share = await page.evaluate(
    async ([a, b]) => {
      const pixels = async (source) => {
        const bytes = Uint8Array.from(atob(source), (c) => c.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const g = new OffscreenCanvas(image.width, image.height).getContext('2d');
        g.drawImage(image, 0, 0);
        return g.getImageData(0, 0, image.width, image.height);
      };
      const [one, other] = [await pixels(a), await pixels(b)];
      if (one.width !== other.width || one.height !== other.height) return 1;
      let different = 0;
      for (let i = 0; i < one.data.length; i += 4) {
        const far = (c) => Math.abs(one.data[i + c] - other.data[i + c]) > 10;
        if (far(0) || far(1) || far(2)) different++;
      }
      return different / (one.data.length / 4);
    },
    [readFileSync(pathOf(name)).toString('base64'), png.toString('base64')],
  );
  await page.close();
  return share;
}
