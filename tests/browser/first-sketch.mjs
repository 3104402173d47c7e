// SPDX-License-Identifier: Apache-2.0
// Measures how soon the page shows something of a file that takes long to read:
//
//     TRACEVIEW=... npm --prefix tests/browser run first-sketch -- FILE [ROUNDS]
//
// Each round starts the program anew and opens its page in a Chromium that already runs.  Time
// counts from the start of the program until the first strip of activity is painted; beside it
// stands when the program told its address, which is when a browser could ask.
import { createReadStream, statSync } from 'node:fs';
import { loadavg } from 'node:os';
import { chromium } from 'playwright-core';
import { view } from './program.mjs';

const [file, rounds = '5'] = process.argv.slice(2);
if (!file || !(Number(rounds) > 0)) {
  console.error('usage: npm --prefix tests/browser run first-sketch -- FILE [ROUNDS]');
  process.exit(2);
}

/** In the page: when a frame with a strip that has any activity was drawn, by the clock of all. */
function watch() {
  const drawn = (canvas) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    return data.some((value) => value > 0);
  };
  const look = () => {
    if (document.body?.querySelector('.profile')) window.firstSketch = -1;
    else if ([...document.querySelectorAll('.sketch canvas')].some(drawn))
      // Behind the next frame's callbacks it is painted.
      requestAnimationFrame(() =>
        setTimeout(() => {
          window.firstSketch = performance.timeOrigin + performance.now();
        }),
      );
    else requestAnimationFrame(look);
  };
  look();
}

async function round(browser) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await page.addInitScript(watch);
  const start = performance.timeOrigin + performance.now();
  const viewer = await view(file);
  const told = performance.timeOrigin + performance.now() - start;
  await page.goto(viewer.address, { waitUntil: 'commit' });
  const shown = await page.waitForFunction(() => window.firstSketch);
  const when = await shown.jsonValue();
  await page.close();
  await viewer.stop();
  if (when < 0) throw new Error('the trace was there before any sketch: take a larger file');
  return { told, sketch: when - start };
}

/** So that all rounds find the file in the page cache. */
async function warm() {
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 22 })) void chunk;
}

const seconds = (ms) => (ms / 1000).toFixed(3);

function line(name, times) {
  times.sort((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  console.log(
    `${name}: ${seconds(middle)} s (${seconds(times[0])} to ${seconds(times[times.length - 1])})`,
  );
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    // Who drives a browser is told from where in the script each request came, for which V8 would
    // parse the whole script twice more: no user waits for that.
    '--js-flags=--no-enable-lazy-source-positions',
  ],
});
await (await browser.newPage()).goto('about:blank');
await warm();
console.log(
  `${(statSync(file).size / 1e6).toFixed(0)} MB in the page cache, ${rounds} rounds, load ${loadavg()[0].toFixed(1)}`,
);
const results = [];
for (let i = 0; i < Number(rounds); i++) results.push(await round(browser));
line(
  'address told',
  results.map((result) => result.told),
);
line(
  'first sketch painted',
  results.map((result) => result.sketch),
);
await browser.close();
