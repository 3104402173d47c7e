// SPDX-License-Identifier: Apache-2.0
// The upload server's page on a mock server: the list and the page of a trace.
import { strict as assert } from 'node:assert';
import { rested, until } from './browser.mjs';
import { onHub } from './hub-page.mjs';
import { test } from './suite.mjs';
import { id, made, someTraces } from './mock-hub.mjs';

const names = (page) => page.locator('.traces th.name > .link').allTextContents();
const asked = (server, what) => server.asked.filter((text) => text.startsWith(what));

test('hub: the list shows the traces of the server', () =>
  onHub({ traces: someTraces() }, '', async (page) => {
    await page.waitForSelector('.traces tbody tr');
    assert.equal(await page.locator('.traces tbody tr').count(), 50);
    assert.match(await page.locator('.list-head').textContent(), /75 traces, 3\.23 GB/);
    const row = page.locator(`[data-id="${id(1)}"]`);
    for (const words of ['app-startup.trace', 'ready', '4.812 s', '1,284,611 calls', '12.4 MB'])
      assert.ok((await row.textContent()).includes(words), words);
    assert.match(await page.locator(`[data-id="${id(4)}"] .state`).textContent(), /reading 42 %/);
    assert.match(await page.locator(`[data-id="${id(2)}"] .count`).textContent(), /events/);
    await page.getByRole('button', { name: 'Show more' }).click();
    await until(() => page.locator('.traces tbody tr').count(), 75, 'all of them');
    assert.equal(await page.getByRole('button', { name: 'Show more' }).isVisible(), false);
    assert.equal(new Set(await names(page)).size, 75);
  }));

test('hub: sorting, searching and filters are in the address', () =>
  onHub({ traces: someTraces() }, '', async (page, server) => {
    await page.waitForSelector('.traces tbody tr');
    await page.getByRole('button', { name: 'Size' }).click();
    await until(async () => (await names(page))[0], 'scroll-list.json.gz', 'the largest first');
    assert.equal(await page.locator('th[aria-sort]').getAttribute('aria-sort'), 'descending');
    await page.getByRole('button', { name: 'Size' }).click();
    await until(async () => (await names(page))[0], 'broken.trace', 'the smallest first');
    await page.keyboard.press('/');
    await page.keyboard.type('AppX');
    await until(() => page.locator('.list .nothing').isVisible(), true, 'nothing is found');
    await page.keyboard.press('Backspace');
    await until(async () => (await names(page)).join(), 'app-startup.trace', 'found');
    assert.match(page.url(), /\?q=App&sort=bytes&order=asc$/);
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.locator(`[data-id="${id(5)}"] .labels button`, { hasText: 'nightly' }).click();
    await until(async () => (await names(page)).join(), 'systrace.html', 'by label');
    await page.reload();
    await until(async () => (await names(page)).join(), 'systrace.html', 'after a reload');
    await page.getByRole('button', { name: 'Any label' }).click();
    await page.getByRole('button', { name: 'com.acme.mail' }).first().click();
    await until(async () => (await names(page)).length, 35, 'by process');
    assert.ok(asked(server, 'GET /api/traces').at(-1).includes('process=com.acme.mail'));
    const before = await names(page);
    const uploaded = Object.fromEntries(someTraces().map((trace) => [trace.name, trace.uploaded]));
    // Days of the browser's time zone.
    const days = await page.evaluate(
      (times) => times.map((time) => new Date(time).toLocaleDateString('sv')),
      before.map((name) => uploaded[name]),
    );
    const expected = before.filter((_, i) => days[i] === '2026-11-21');
    assert.ok(expected.length > 0 && expected.length < before.length);
    await page.getByLabel('Uploaded from').fill('2026-11-21');
    await page.getByLabel('Uploaded to').fill('2026-11-21');
    await until(async () => (await names(page)).join(), expected.join(), 'of one day');
  }));

test('hub: deleting asks first, pinning does not, and the focus stays near', () =>
  onHub({ traces: someTraces() }, '', async (page, server) => {
    await page.waitForSelector('.traces tbody tr');
    const row = page.locator(`[data-id="${id(3)}"]`);
    await row.getByRole('button', { name: 'Pin' }).click();
    await until(() => server.world.traces[2].pinned, true, 'pinned');
    await until(
      () => row.getByRole('button', { name: 'Unpin' }).getAttribute('aria-pressed'),
      'true',
      'shown as pinned',
    );
    await row.getByRole('button', { name: /^Delete/ }).click();
    await until(() => page.evaluate(() => document.activeElement.textContent), 'Delete', 'asked');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.asking').count(), 0);
    assert.equal(server.world.traces.length, 75);
    assert.match(
      await page.evaluate(() => document.activeElement.getAttribute('aria-label')),
      /^Delete broken/,
    );
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await until(() => server.world.traces.length, 74, 'deleted');
    await until(
      async () => (await names(page)).includes('broken.trace'),
      false,
      'its line is gone',
    );
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'bazel-profile.gz');
    await until(
      () => page.locator('body > [role=status]').textContent(),
      'broken.trace was deleted.',
      'said',
    );
  }));

test('hub: arrows move from trace to trace, Enter opens its page, Back returns to the list', () =>
  onHub({ traces: someTraces() }, '?sort=name', async (page) => {
    await page.waitForSelector('.traces tbody tr');
    const first = await names(page);
    await page.locator('.traces th.name .link').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await until(() => page.locator('h1').textContent(), first[1], 'its page');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1');
    assert.equal(await page.title(), `${first[1]} – traceview`);
    await page.goBack();
    await until(async () => (await names(page))[0], first[0], 'the list again');
    assert.match(page.url(), /\?sort=name$/);
  }));

test('hub: a line shows the progress of a trace that is being read', () =>
  onHub({ traces: someTraces() }, '', async (page, server) => {
    const state = page.locator(`[data-id="${id(4)}"] .state`);
    await until(() => state.textContent(), 'reading 42 %', 'reading');
    Object.assign(server.world.traces[3], { state: 'ready', progress: null });
    await until(() => state.textContent(), 'ready', 'ready');
    const count = asked(server, 'GET /api/traces?').length;
    await rested(page);
    assert.equal(asked(server, 'GET /api/traces?').length, count, 'nothing more to ask for');
  }));

test('hub: an empty store says what to do and links to the sample', () =>
  onHub({ hub: { sample: id(1) } }, '', async (page) => {
    await until(() => page.locator('.list .nothing').isVisible(), true, 'nothing here');
    assert.equal(await page.locator('.traces').isVisible(), false);
    assert.equal(await page.locator('.filter').isVisible(), false);
    const sample = page.getByRole('link', { name: 'Look at a sample trace' });
    assert.equal(await sample.getAttribute('href'), `/t/${id(1)}/`);
    const { origin } = new URL(page.url());
    assert.equal(await page.locator('.command code').textContent(), `curl -T app.trace ${origin}/`);
  }));

test('hub: commands and addresses can be copied', () =>
  onHub(
    { traces: someTraces() },
    '',
    async (page) => {
      await page.locator('.command').getByRole('button', { name: 'Copy' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
      assert.match(await clipboard(), /^curl -T app\.trace http:/);
      await page.locator('.traces th.name .link').first().click();
      await page.getByRole('button', { name: 'Copy address' }).click();
      await until(clipboard, page.url(), 'the address of the trace');
    },
    { permissions: ['clipboard-read', 'clipboard-write'] },
  ));

test('hub: the page of a trace has its pictures, facts and links', () =>
  onHub({ traces: someTraces() }, `t/${id(1)}/`, async (page, server) => {
    await page.waitForSelector('.picture.whole.there');
    const href = (name) => page.getByRole('link', { name, exact: true }).getAttribute('href');
    assert.equal(await href('Open in the viewer'), `/t/${id(1)}/view/`);
    assert.equal(await href('Flame graph'), `/t/${id(1)}/flamegraph.svg`);
    assert.equal(await href('Collapsed stacks'), `/t/${id(1)}/collapsed.txt`);
    assert.equal(await href('Self-contained HTML'), `/t/${id(1)}/report.html`);
    assert.equal(await href('Original file'), `/t/${id(1)}/file`);
    assert.equal(await href('[6] OkHttp api.acme.shop'), `/t/${id(1)}/flamegraph.svg?thread=1`);
    assert.equal(await page.locator('figure').count(), 4);
    await page.getByText('Without calls: [21] JDWP.').waitFor();
    const told = await page.locator('aside[aria-label="About this trace"]').textContent();
    for (const words of [
      'Warning: Long calls on the main thread',
      'Note: Deep recursion',
      'Warning: 1 × the recording buffer was full',
      'Note: 12 × an exit without an entry',
      '12.4 MB, 12,400,000 bytes',
      'com.acme.shop',
    ])
      assert.ok(told.includes(words), words);
    assert.match(
      await page.locator('.note-text').textContent(),
      /^Cold start on a Pixel 6,\nbefore/,
    );
    await page.locator('figure').last().scrollIntoViewIfNeeded();
    await until(() => asked(server, `GET /t/${id(1)}/flamegraph.svg`).length, 5, 'all pictures');
  }));

test('hub: name, labels, note and pin can be changed on the page', () =>
  onHub({ traces: someTraces() }, `t/${id(5)}/`, async (page, server) => {
    const trace = server.world.traces[4];
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.keyboard.type('new name');
    await page.keyboard.press('Enter');
    await until(() => page.locator('h1').textContent(), 'new name', 'renamed');
    assert.equal(trace.name, 'new name');
    assert.equal(await page.title(), 'new name – traceview');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.keyboard.type('another');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('h1').textContent(), 'new name');
    await page.getByLabel('Add a label').fill('  slow   start ');
    await page.keyboard.press('Enter');
    await until(() => trace.labels.join(), 'nightly,device-7,slow start', 'a label more');
    await page.getByRole('button', { name: 'Remove the label nightly' }).click();
    await until(() => trace.labels.join(), 'device-7,slow start', 'a label less');
    assert.equal(await page.getByRole('button', { name: 'Save the note' }).isVisible(), false);
    await page.getByRole('textbox', { name: 'Note' }).fill('look\nhere');
    await page.getByRole('button', { name: 'Save the note' }).click();
    await until(() => trace.note, 'look\nhere', 'the note');
    await until(() => page.locator('.note-text').textContent(), 'look\nhere', 'shown at the top');
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    await until(() => trace.pinned, true, 'pinned');
    const pictures = asked(server, `GET /t/${id(5)}/flamegraph`).length;
    assert.equal(pictures, 1, 'changes draw no picture anew');
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await until(() => new URL(page.url()).pathname, '/', 'back at the list');
    assert.equal(server.world.traces.includes(trace), false);
  }));

test('hub: a trace that is being read shows progress, then its pictures', () =>
  onHub({ traces: someTraces() }, `t/${id(4)}/`, async (page, server) => {
    const bar = page.getByRole('progressbar');
    await until(() => bar.getAttribute('aria-valuenow'), '42', 'how far');
    assert.equal(await page.getByRole('link', { name: 'Open in the viewer' }).count(), 0);
    server.world.traces[3].progress = 0.9;
    await until(() => bar.getAttribute('aria-valuenow'), '90', 'further');
    const { threads } = server.world.traces[0];
    Object.assign(server.world.traces[3], { state: 'ready', progress: null, threads });
    await page.waitForSelector('.picture.whole.there');
    await page.getByRole('link', { name: 'Open in the viewer' }).waitFor();
  }));

test('hub: a trace that could not be read says why, where and what helps', () =>
  onHub({ traces: someTraces() }, `t/${id(3)}/`, async (page) => {
    const words = await page.locator('.failure').textContent();
    assert.match(words, /line 4,118 of the method table/);
    assert.match(words, /byte 311,284 \(0x4bff4\)/);
    assert.match(words, /Copy it again/);
    const link = page.getByRole('link', { name: 'Download the original' });
    assert.equal(await link.getAttribute('href'), `/t/${id(3)}/file`);
    assert.equal(await page.locator('img').count(), 0);
    await page.getByRole('button', { name: 'Read it again' }).click();
    await page.getByText('Waiting for its turn').waitFor();
  }));

test('hub: a trace without calls asks for no picture', () =>
  onHub({ traces: [made(1, { calls: 0, threads: [] })] }, `t/${id(1)}/`, async (page, server) => {
    await page.getByText('No thread has calls').waitFor();
    await page.getByRole('link', { name: 'Open in the viewer' }).waitFor();
    assert.equal(await page.getByRole('link', { name: /Flame|Collapsed/ }).count(), 0);
    assert.deepEqual(asked(server, `GET /t/${id(1)}/f`), []);
  }));

test('hub: an address without a trace says so', () =>
  onHub(
    { traces: [] },
    `t/${id(9)}/`,
    async (page) => {
      await until(() => page.locator('h1').textContent(), 'No such trace', 'said');
      await page.getByRole('link', { name: 'To the list of traces' }).click();
      await until(() => new URL(page.url()).pathname, '/', 'the list');
    },
    { expected: /404/ },
  ));

test('hub: a picture that failed can be requested again', () => {
  let failing = true;
  const before = (_, url) =>
    failing && url.pathname.endsWith('.svg') ? { status: 503, json: { error: 'busy' } } : undefined;
  return onHub(
    { traces: [made(1)], before },
    `t/${id(1)}/`,
    async (page) => {
      await page.getByText('Busy.').waitFor();
      failing = false;
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.waitForSelector('.picture.whole.there');
    },
    { expected: /503/ },
  );
});

test('hub: texts of the server are shown as text, never as markup', () => {
  const evil = '<img src=x onerror=alert(1)>\u202egnp.exe';
  const trace = made(1, {
    ...{
      name: evil,
      note: evil,
      labels: [evil],
      processes: ['', evil],
      format: evil,
      version: evil,
    },
    threads: [0, 1].map((index) => ({ index, name: evil, id: 1, process: 1, calls: 1 })),
    health: [{ kind: evil, text: evil, severity: 'warning', count: 1 }],
    findings: [{ title: evil, text: evil, severity: 'note' }],
  });
  return onHub({ traces: [trace], hub: { name: evil } }, '', async (page) => {
    await page.waitForSelector('.traces tbody tr');
    assert.equal(await page.locator('main img').count(), 0);
    await page.locator('.traces th.name .link').click();
    await page.waitForSelector('.picture.whole.there');
    assert.equal(await page.locator('img').count(), 3);
    assert.equal(await page.locator('img:not([src*="flamegraph.svg"])').count(), 0);
    const shown = await page.evaluate(() => document.body.innerText);
    assert.equal(shown.includes('\u202e'), false, 'nothing turns the reading direction');
  });
});

test('hub: a user logs in with a token, and out', () =>
  onHub(
    { traces: someTraces(), token: 'secret' },
    '',
    async (page) => {
      await page.getByLabel('Token').fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByText('That is not the token of this server.').waitFor();
      assert.equal(await page.locator('.list').isVisible(), false);
      assert.equal(await page.locator('.ways').isVisible(), false);
      await page.getByLabel('Token').fill('secret');
      await page.keyboard.press('Enter');
      await page.waitForSelector('.traces tbody tr');
      assert.match(await page.locator('.command code').textContent(), /Bearer TOKEN/);
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByLabel('Token').waitFor();
      assert.equal(await page.locator('.list').isVisible(), false);
    },
    // A question on its way when the user logs out is answered by 401.
    { expected: /40[13]/ },
  ));

test('hub: the address of a trace asks for the token, then shows the trace', () =>
  onHub(
    { traces: someTraces(), token: 'secret' },
    `t/${id(1)}/`,
    async (page) => {
      await page.getByLabel('Token').fill('secret');
      await page.keyboard.press('Enter');
      await until(() => page.locator('h1').textContent(), 'app-startup.trace', 'the trace');
    },
    { expected: /401/ },
  ));

test('hub: a user who may only read sees no controls that change anything', () => {
  const may = { upload: false, list: true, change: false };
  return onHub({ traces: someTraces(), hub: { may } }, '', async (page) => {
    await page.waitForSelector('.traces tbody tr');
    assert.equal(await page.locator('.traces .actions button').count(), 0);
    assert.equal(await page.getByText('pinned', { exact: true }).count(), 1);
    await page.locator('.traces th.name .link').first().click();
    await page.waitForSelector('.picture.whole.there');
    for (const name of ['Rename', 'Add', 'Unpin', 'Delete…', 'Save the note'])
      assert.equal(await page.getByRole('button', { name, exact: true }).isVisible(), false, name);
    assert.match(await page.locator('.note-text').textContent(), /Pixel 6/);
  });
});

test('hub: the page asks again when a server does not answer', () => {
  let away = true;
  return onHub(
    {
      traces: someTraces(),
      before: (_, url) => (away && url.pathname === '/api/hub' ? 'cut' : undefined),
    },
    '',
    async (page) => {
      await page.getByText('The server does not answer.').waitFor();
      away = false;
      await page.waitForSelector('.traces tbody tr');
      assert.equal(await page.getByText('The server does not answer.').isVisible(), false);
    },
    { expected: /ERR_EMPTY_RESPONSE/ },
  );
});
