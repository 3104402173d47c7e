// SPDX-License-Identifier: Apache-2.0
// A headless Chromium, pages in it that note what goes wrong, and ways to read what they show.
import { existsSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { afterAll } from './suite.mjs';
import { PATIENCE_MS, rested, watchRest } from './rest.mjs';

export { rested };

/** The shell alone needs less than the whole browser, which gives each page a window. */
const CHROMIUMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
export const executablePath = process.env.CHROMIUM ?? CHROMIUMS.find((path) => existsSync(path));

let running = null;

function launch() {
  if (!executablePath) {
    throw new Error(
      'there is no Chromium: install chromium-headless-shell ("make check" does), or set CHROMIUM',
    );
  }
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Drivers of a browser are told from where in the script each request came, for which V8 would
      // parse the whole script of each page twice more: no user waits for that.
      '--js-flags=--no-enable-lazy-source-positions',
    ],
  });
}

export async function browser() {
  running ??= launch();
  return await running;
}

/** A browser that does not end by itself is killed after this time. */
const END_MS = 60_000;

function killChildren() {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  for (const child of children.trim().split(' ')) process.kill(Number(child), 'SIGKILL');
}

afterAll(async () => {
  if (!running) return;
  const late = setTimeout(killChildren, END_MS);
  await (await running).close();
  clearTimeout(late);
});

/**
 * A context whose pages tell when they are at rest. Tests compare numbers of one unit, so their
 * reader has chosen milliseconds, and real time. `reader`: other choices, or null for none.
 */
export async function newContext({ reader = { unit: 'ms', clock: 'real' }, ...options } = {}) {
  const context = await (await browser()).newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addInitScript(watchRest);
  await context.addInitScript(`window.copyOf = ${copyOf}`);
  await context.addInitScript((chosen) => {
    try {
      for (const [name, choice] of Object.entries(chosen ?? {}))
        localStorage[`traceview.${name}`] ??= choice;
    } catch {
      // A page without an origin has no storage.
    }
  }, reader);
  return context;
}

/** Calls whose effect on a page or its context outlives a document: such a page is used once. */
const LASTING = ['addInitScript', 'addListener', 'addLocatorHandler', 'close', 'emulateMedia']
  .concat(['exposeBinding', 'exposeFunction', 'grantPermissions', 'newCDPSession', 'newPage'])
  .concat(['on', 'once', 'prependListener', 'route', 'routeFromHAR', 'routeWebSocket'])
  .concat(['setDefaultNavigationTimeout', 'setDefaultTimeout', 'setExtraHTTPHeaders'])
  .concat(['setGeolocation', 'setHTTPCredentials', 'setOffline']);
/** Pages without a document, by the options they were opened with. */
const idle = new Map();
/** Further ones are closed: each has a process. */
const MAX_IDLE = 3;

/** Whose storage a document has, as DevTools name it; '' if it has none. */
function originOf(address) {
  const { origin, protocol } = new URL(address);
  if (protocol === 'file:') return 'file://';
  return origin === 'null' ? '' : origin;
}

/** A page of its own context; its `troubles` are errors, messages to the console, other hosts. */
async function newPage(options) {
  const context = await newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  const one = { page, context, devtools, origins: new Set(), once: false };
  const tell = (text) => one.troubles.push(text);
  page.on('pageerror', (error) => tell(`error: ${error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) tell(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!['data:', 'blob:'].includes(url.protocol) && url.hostname !== '127.0.0.1')
      tell(`request: ${url}`);
  });
  page.on('framenavigated', (frame) => {
    const origin = originOf(frame.url());
    if (origin) one.origins.add(origin);
  });
  // From the first moment on: who waits for the dialog only when it opens may be too late.
  page.on('filechooser', () => undefined);
  for (const name of LASTING)
    for (const object of [page, context]) {
      const own = object[name];
      if (!own) continue;
      object[name] = (...words) => {
        one.once = true;
        return own.apply(object, words);
      };
    }
  return one;
}

/** Leaves the document, with all that it stored and where hand and keyboard were. */
async function clear({ page, devtools, origins }) {
  for (const key of ['Shift', 'Control', 'Alt', 'Meta']) await page.keyboard.up(key);
  await page.mouse.up();
  await page.mouse.move(-1, -1);
  await page.evaluate(() => (window.name = ''));
  await page.goto('about:blank');
  // A new page has this place in its history as well.
  await devtools.send('Page.resetNavigationHistory');
  for (const origin of origins)
    await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  origins.clear();
}

/** Empties a page for another test, or closes it. */
async function giveBack(kind, one) {
  const { context } = one;
  if (one.once || context.pages().length > 1 || idle.has(kind)) return context.close();
  try {
    await clear(one);
  } catch {
    // The page does not answer, or has been closed.
    return context.close();
  }
  if (idle.size >= MAX_IDLE) {
    const [[oldest, unused]] = idle;
    idle.delete(oldest);
    await unused.context.close();
  }
  idle.set(kind, one);
}

/**
 * `troubles` collects errors, messages to the console and requests to other hosts. After `close` the
 * page is not the caller's any more: another test may have it, emptied, as a renderer that runs
 * already opens a page for two thirds of the processor time. `discard` ends a page that may not answer.
 */
export async function openPage(address, options = {}) {
  const { viewport = { width: 1600, height: 1000 }, ...others } = options;
  const kind = JSON.stringify(others);
  const known = idle.get(kind);
  idle.delete(kind);
  if (known) await known.page.setViewportSize(viewport);
  const one = known ?? (await newPage({ viewport, ...others }));
  const { page, context } = one;
  const troubles = (one.troubles = []);
  await page.goto(address);
  let ended = null;
  const close = () => (ended ??= giveBack(kind, one));
  const discard = () => (ended ??= context.close());
  return { page, troubles, close, discard };
}

/** Opens a page for some work, which ends however that goes. */
export async function withPage(address, options, work) {
  const opened = await openPage(address, options);
  try {
    await work(opened);
  } catch (error) {
    await opened.discard();
    throw error;
  }
  await opened.close();
}

/** The page with its trace is there and its first table or flame graph is computed. */
export async function ready(page) {
  await page.waitForSelector(':is(.profile .row.method, #pane-flame canvas):visible');
  await computed(page);
}

/** The table shows what was asked for last. */
export async function computed(page) {
  await rested(page);
}

/** Wait until a value of the page is as expected; the error tells the last one. */
export async function until(read, expected, what) {
  let last;
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    last = await read();
    if (typeof expected === 'function' ? expected(last) : last === expected) return last;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${what}: got ${JSON.stringify(last)}`);
}

/** Where an element is.  A list that is drawn anew has none of its old elements for a moment. */
export function boxOf(locator) {
  return until(
    () => locator.boundingBox(),
    (box) => box !== null,
    'the box of an element',
  );
}

/** The address's part after "#", by name. */
export async function place(page) {
  return Object.fromEntries(new URLSearchParams(await page.evaluate(() => location.hash.slice(1))));
}

/** Scroll through the table, up to `most` lines: one entry a line, cells by column. */
export async function tableLines(page, most = Infinity) {
  const read = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('.profile .row')].map((row) => ({
        line: Number(row.dataset.line),
        kind: ['method', 'group', 'relation'].find((name) => row.classList.contains(name)),
        group: row.dataset.group ?? null,
        frame: row.dataset.frame ?? null,
        name: row.querySelector('.cell.name').textContent,
        cells: Object.fromEntries(
          [...row.querySelectorAll('[data-column]')].map((cell) => [
            cell.dataset.column,
            cell.textContent,
          ]),
        ),
      })),
    );
  const lines = new Map();
  const [height, step] = await page.evaluate(() => {
    const scroller = document.querySelector('.profile .scroller');
    scroller.scrollTop = 0;
    return [scroller.scrollHeight, scroller.clientHeight];
  });
  for (let top = 0; top < height && lines.size < most; top += step) {
    await page.evaluate(async (y) => {
      document.querySelector('.profile .scroller').scrollTop = y;
      await new Promise((done) => requestAnimationFrame(done));
    }, top);
    for (const line of await read()) lines.set(line.line, line);
  }
  await page.evaluate(() => {
    document.querySelector('.profile .scroller').scrollTop = 0;
  });
  return [...lines.values()].sort((a, b) => a.line - b.line);
}

/** Whole nanoseconds as the table shows milliseconds, by way of whole numbers only. */
export function ms(ns) {
  const micros = (BigInt(ns) + 500n) / 1000n;
  const digits = String(micros).padStart(4, '0');
  return `${digits.slice(0, -3).replace(/\B(?=(\d{3})+$)/g, ',')}.${digits.slice(-3)}`;
}

/**
 * In the page: a copy of the pixels of a canvas, or of the canvases that lie below an element, like the
 * sheets of the time line. Reading a canvas itself would make the browser draw it another way.
 */
function copyOf(selector) {
  const shown = document.querySelector(selector);
  const all =
    shown.tagName === 'CANVAS' ? [shown] : [...shown.parentElement.querySelectorAll('canvas')];
  const canvases = all.filter((canvas) => canvas.clientWidth > 0);
  const box = shown.getBoundingClientRect();
  const ratio = canvases[0].width / canvases[0].clientWidth;
  const size = [box.width, box.height].map((length) => Math.round(length * ratio));
  const copy = new OffscreenCanvas(...size).getContext('2d', { willReadFrequently: true });
  // Pinned tracks are first in the document, and lie over the sheets.
  for (const canvas of canvases.reverse()) {
    const { x, y } = canvas.getBoundingClientRect();
    copy.drawImage(canvas, ...[x - box.x, y - box.y].map((by) => Math.round(by * ratio)));
  }
  return copy;
}

/** How many colours a canvas shows: a blank one has a handful at most. */
export function colours(page, selector) {
  return page.evaluate((found) => {
    const copy = window.copyOf(found);
    const { data } = copy.getImageData(0, 0, copy.canvas.width, copy.canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  }, selector);
}
