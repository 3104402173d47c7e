// SPDX-License-Identifier: Apache-2.0
// Pages open in contexts that other pages were in: none finds anything of the one before it.
import { strict as assert } from 'node:assert';
import { createServer } from 'node:http';
import { openPage } from './browser.mjs';
import { after, test } from './limited.mjs';

const EMPTY = {
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>empty</title>',
};
const WORKER = { headers: { 'content-type': 'text/javascript' }, body: 'onfetch = () => {};' };

const servers = [];
after(() => {
  for (const server of servers) server.close();
  for (const server of servers) server.closeAllConnections();
});

async function serve() {
  const server = createServer((request, response) => {
    const { headers, body } = request.url === '/worker.js' ? WORKER : EMPTY;
    response.writeHead(200, { ...headers, 'cache-control': 'max-age=3600' }).end(body);
    server.asked = [...(server.asked ?? []), request.url];
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  servers.push(server);
  return server;
}

/** Leave something in every place that outlives a document. */
async function leaveTraces({ page }) {
  await page.context().grantPermissions(['clipboard-read']);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 300, height: 200 });
  await page.route('**/asked', (route) => route.fulfill({ body: 'made up' }));
  await page.keyboard.down('Shift');
  await page.evaluate(async () => {
    window.name = 'left';
    localStorage.left = '1';
    sessionStorage.left = '1';
    document.cookie = 'left=1; max-age=3600';
    await new Promise((done) => (indexedDB.open('left').onsuccess = done));
    await (await caches.open('left')).add('/cached');
    await navigator.serviceWorker.register('/worker.js');
    await navigator.serviceWorker.ready;
    await fetch('/kept');
    history.pushState(null, '', '#left');
    window.open('/other');
    onpagehide = () => (localStorage.late = '1');
  });
}

/** Return what a page finds in all those places. */
async function findTraces({ page }) {
  return {
    pages: page.context().pages().length,
    viewport: page.viewportSize(),
    cookies: await page.context().cookies(),
    ...(await page.evaluate(async () => ({
      name: window.name,
      local: { ...localStorage },
      session: { ...sessionStorage },
      databases: await indexedDB.databases(),
      caches: await caches.keys(),
      workers: (await navigator.serviceWorker.getRegistrations()).length,
      clipboard: (await navigator.permissions.query({ name: 'clipboard-read' })).state,
      dark: matchMedia('(prefers-color-scheme: dark)').matches,
      entries: history.length,
      answer: await (await fetch('/asked')).text(),
      again: await (await fetch('/kept')).text(),
    }))),
  };
}

test('a page finds nothing of the page that was in its context before', async () => {
  const server = await serve();
  const address = `http://127.0.0.1:${server.address().port}/`;
  // Options that no other test has: the first context is a new one.
  const options = { viewport: { width: 801, height: 601 } };
  const first = await openPage(address, options);
  const before = await findTraces(first);
  await leaveTraces(first);
  assert.equal((await findTraces(first)).answer, 'made up', 'traces are left');
  const context = first.page.context();
  await first.close();
  server.asked = [];
  const second = await openPage(address, options);
  assert.equal(second.page.context(), context, 'the context is used again');
  assert.deepEqual(await findTraces(second), before);
  assert.deepEqual(server.asked, ['/', '/asked', '/kept'], 'nothing comes from a cache');
  assert.deepEqual(second.troubles, []);
  await second.close();
});
