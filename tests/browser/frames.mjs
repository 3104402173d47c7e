// SPDX-License-Identifier: Apache-2.0
// How smoothly the page moves over a trace: the time between frames while one pans, zooms and
// scrolls, and the processor time that the page's thread needs for each, which says more on a busy
// machine.
//
//     TRACEVIEW=... npm --prefix tests/browser run --silent frames -- FILE
//         [--seconds N] [--size 1600x1000] [--profile OUT.cpuprofile] [--only scroll,pan] [--json]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { view } from './program.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '4' },
    size: { type: 'string', default: '1600x1000' },
    profile: { type: 'string' },
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
const [file] = positionals;
if (!file) throw new Error('which trace?');
const length = Number(values.seconds) * 1000;
const [width, height] = values.size.split('x').map(Number);
const folder = mkdtempSync(join(tmpdir(), 'frames-'));

/** In the page: one step of the hand a frame, and the time of each frame noted. */
function measure({ kind, length }) {
  const canvas = document.querySelector('.list-view');
  const box = canvas.getBoundingClientRect();
  const turn = (more) =>
    canvas.dispatchEvent(
      new WheelEvent('wheel', {
        ...{ bubbles: true, cancelable: true, clientX: box.x + box.width * 0.6 },
        ...{ clientY: box.y + box.height / 2, ...more },
      }),
    );
  const key = (code) =>
    document.body.dispatchEvent(
      new KeyboardEvent('keydown', { bubbles: true, code, key: code.at(-1).toLowerCase() }),
    );
  const scroll = (selector, share) => {
    const place = document.querySelector(selector);
    place.scrollTop += there(share) ? 40 : -40;
  };
  // There and back, twice, so that many places and zooms are seen.
  const there = (share) => Math.floor(share * 4) % 2 === 0;
  const steps = {
    nothing: () => undefined,
    'pan, wheel': (share) => turn({ shiftKey: true, deltaY: there(share) ? 40 : -40 }),
    'zoom, wheel': (share) => turn({ ctrlKey: true, deltaY: there(share) ? -100 : 100 }),
    // As often as keyboards repeat.
    'pan, keys': (share, n) => n % 2 === 0 && key(there(share) ? 'KeyD' : 'KeyA'),
    'zoom, keys': (share, n) => n % 2 === 0 && key(there(share) ? 'KeyW' : 'KeyS'),
    'scroll, lines': (share) => scroll('.tracks', share),
    'scroll, table': (share) => scroll('#pane-profile .scroller', share),
  };
  return new Promise((done) => {
    const between = [];
    let began = 0;
    let last = 0;
    let n = 0;
    const frame = (now) => {
      began ||= now;
      if (last > 0) between.push(now - last);
      last = now;
      if (now - began > length) return done(between);
      steps[kind]((now - began) / length, n++);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}

/** Frames of the page's main thread in a trace of the browser: script, layout, painting; in ms. */
function frameCosts(trace) {
  return JSON.parse(readFileSync(trace, 'utf8'))
    .traceEvents.filter((e) => e.name === 'ProxyMain::BeginMainFrame' && e.ph === 'X')
    .map((e) => e.tdur / 1000);
}

function quantile(list, share) {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/**
 * The share of frames that took one period of the display, and not two. Pages tell times in steps of
 * 0.1 ms, with noise: a period of 16.67 ms is told as anything from 16.5 to 16.8.
 */
const PERIOD_MS = 1000 / 60;
const inTime = (between) => between.filter((ms) => ms < 1.5 * PERIOD_MS).length / between.length;

const figures = (list) =>
  [0.5, 0.95, 1].map((share) => quantile(list, share).toFixed(1).padStart(6)).join(' ');

const viewer = await view(file);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
});
const page = await browser.newPage({ viewport: { width, height } });
await page.goto(viewer.address);
await page.waitForSelector('.list-view', { timeout: 600000 });
await page.waitForFunction(() => !document.querySelector('.profile.pending'), null, {
  timeout: 60000,
});
await page.waitForTimeout(2000);
// From somewhere in the middle: at the whole trace there is nowhere to pan to.
const zoom = async (times) => {
  await page.keyboard.press('0');
  await page.waitForTimeout(500);
  for (let i = 0; i < times; i++) {
    await page.keyboard.press('w');
    await page.waitForTimeout(200);
  }
  await page.waitForTimeout(800);
};

const session = await page.context().newCDPSession(page);
if (values.profile) {
  await session.send('Profiler.enable');
  await session.send('Profiler.setSamplingInterval', { interval: 250 });
  await session.send('Profiler.start');
}
/** Tell people; with --json there is one line for a program at the end. */
const say = (text) => {
  if (!values.json) console.log(text);
};
say(`load ${loadavg()[0].toFixed(1)}, ${width} x ${height}; ms: median, 95 %, most`);
say('gesture       frames   between frames        in time   processor time');
const KINDS = [
  'nothing',
  'pan, wheel',
  'zoom, wheel',
  'pan, keys',
  'zoom, keys',
  'scroll, lines',
  'scroll, table',
];
const rows = [];
const only = values.only.split(',');
for (const kind of KINDS.filter((each) => only.some((begin) => each.startsWith(begin)))) {
  await zoom(kind.startsWith('pan') ? 6 : 0);
  const trace = join(folder, 'trace.json');
  await browser.startTracing(page, { path: trace, categories: ['cc', '-*'] });
  const between = await page.evaluate(measure, { kind, length });
  await browser.stopTracing();
  const frames = String(between.length).padStart(6);
  const costs = frameCosts(trace);
  const share = `${(100 * inTime(between)).toFixed(1)} %`.padStart(7);
  say(`${kind.padEnd(13)} ${frames}   ${figures(between)}  ${share}   ${figures(costs)}`);
  const shares = (list) => [0.5, 0.95, 1].map((share) => quantile(list, share));
  const more = { in_time: inTime(between), load: loadavg()[0] };
  rows.push({ kind, between: shares(between), costs: shares(costs), ...more });
}
if (values.json) console.log(JSON.stringify(rows));
say(`load ${loadavg()[0].toFixed(1)}`);
if (values.profile) {
  const { profile } = await session.send('Profiler.stop');
  writeFileSync(values.profile, JSON.stringify(profile));
}
await browser.close();
await viewer.stop();
rmSync(folder, { recursive: true });
