// SPDX-License-Identifier: Apache-2.0
// A page that another test has used is like a new one.
import { strict as assert } from 'node:assert';
import { openPage } from './browser.mjs';
import { example, view } from './program.mjs';
import { after, before, test } from './suite.mjs';

// A kind of page that no other file asks for.
const OPTIONS = { timezoneId: 'Asia/Kathmandu' };
let viewer;

before(async () => {
  viewer = await view(example());
});
after(() => viewer.stop());

/** All that a page could know of one that was there before. */
function kept() {
  return {
    here: location.hash,
    history: history.length,
    referrer: document.referrer,
    name: window.name,
    cookie: document.cookie,
    local: Object.keys(localStorage).sort(),
    session: Object.keys(sessionStorage),
    size: [innerWidth, innerHeight],
    focused: document.activeElement?.tagName ?? null,
  };
}

/** Leaves something in each place that outlives a document. */
async function leaveAll() {
  history.pushState(null, '', '#call=0.1');
  window.name = 'left';
  document.cookie = 'left=1';
  localStorage.setItem('traceview.left', '1');
  sessionStorage.setItem('left', '1');
  await new Promise((done) => {
    indexedDB.open('left').onsuccess = done;
  });
  await (await caches.open('left')).put('/left', new Response('1'));
}

const stored = async () => [(await indexedDB.databases()).length, (await caches.keys()).length];

test('a page that was used is reused, and keeps nothing', async () => {
  const first = await openPage(viewer.address, OPTIONS);
  const fresh = await first.page.evaluate(kept);
  const empty = await first.page.evaluate(stored);
  await first.page.evaluate(leaveAll);
  await first.page.keyboard.down('Shift');
  await first.page.mouse.move(300, 300);
  await first.page.mouse.down();
  assert.notDeepEqual(await first.page.evaluate(kept), fresh);
  assert.notDeepEqual(await first.page.evaluate(stored), empty);
  await first.close();

  const second = await openPage(viewer.address, OPTIONS);
  assert.equal(second.page, first.page);
  assert.deepEqual(await second.page.evaluate(kept), fresh);
  assert.deepEqual(await second.page.evaluate(stored), empty);
  await second.page.evaluate(() => {
    window.held = new Promise((done) =>
      addEventListener('mousemove', (e) => done([e.buttons, e.shiftKey])),
    );
  });
  await second.page.mouse.move(400, 400);
  assert.deepEqual(await second.page.evaluate(() => window.held), [0, false]);
  await second.close();
});

test('a page that a test changed for good is not reused', async () => {
  const first = await openPage(viewer.address, OPTIONS);
  await first.page.emulateMedia({ colorScheme: 'dark' });
  await first.close();
  const second = await openPage(viewer.address, OPTIONS);
  assert.notEqual(second.page, first.page);
  await second.close();
});

test('a page forgets every site that it showed', async () => {
  const other = viewer.address.replace('127.0.0.1', 'localhost');
  const first = await openPage(other, OPTIONS);
  const empty = await first.page.evaluate(stored);
  const fresh = await first.page.evaluate(kept);
  await first.page.evaluate(leaveAll);
  await first.page.goto(viewer.address);
  await first.close();
  const second = await openPage(other, OPTIONS);
  assert.equal(second.page, first.page);
  assert.deepEqual(await second.page.evaluate(kept), fresh);
  assert.deepEqual(await second.page.evaluate(stored), empty);
  await second.close();
});
