// SPDX-License-Identifier: Apache-2.0
// "Send to server" in the Save menu, with a real upload server: the trace arrives with the token of
// the user's file, and each fault of that file says what to do.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPage, ready, until } from './browser.mjs';
import { after, before, test } from './suite.mjs';
import { example, serveStore, viewWith } from './program.mjs';

const TOKEN = 'a-token-of-this-user-0123456789';
const folder = mkdtempSync(join(tmpdir(), 'send-'));
let server;

before(async () => {
  const tokens = join(folder, 'tokens');
  writeFileSync(tokens, `${TOKEN}\n`, { mode: 0o600 });
  server = await serveStore(join(folder, 'store'), '--token-file', tokens);
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

let users = 0;

/** Open the example as a user with this file of options for `push`; null: the user has none. */
async function asUser(options, mode, work) {
  const home = join(folder, `user-${++users}`);
  const file = join(home, 'traceview', 'push');
  mkdirSync(join(home, 'traceview'), { recursive: true });
  if (options !== null) {
    writeFileSync(file, options);
    chmodSync(file, mode);
  }
  const viewer = await viewWith({ XDG_CONFIG_HOME: home }, example());
  const { page, troubles, close } = await openPage(viewer.address);
  try {
    await ready(page);
    await work(page, file);
    assert.deepEqual(troubles, []);
  } finally {
    await close();
    await viewer.stop();
  }
}

/** Choose the entry of the menu, agree, and return what the dialog says when sending has ended. */
async function send(page) {
  await page.keyboard.press('Control+s');
  await page.getByRole('menuitem', { name: 'Send to server' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send to server' });
  assert.match(await dialog.innerText(), /whole and unchanged/);
  await dialog.getByRole('button', { name: 'Send' }).click();
  const text = () => dialog.getByRole('status').innerText();
  return { dialog, said: await until(text, (now) => !/^Send(s|ing)/.test(now), 'the answer') };
}

test('the trace arrives with the token of the user, and its page opens', () =>
  asUser(`to = ${server.address}\ntoken = ${TOKEN}\n`, 0o600, async (page) => {
    const { dialog, said } = await send(page);
    assert.match(said, /^Sent\. The server has the trace at:/);
    const address = await dialog.getByRole('link').getAttribute('href');
    assert.ok(address.startsWith(`${server.address}t/`), address);
    assert.ok(!(await page.content()).includes(TOKEN), 'the page does not know the token');
    const answer = await fetch(`${address.replace(/\/$/, '')}/file`, {
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    assert.equal(answer.status, 200);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), readFileSync(example()));
  }));

test('without the file the dialog says how to set it up, and sends when it is there', () =>
  asUser(null, 0o600, async (page, file) => {
    const { dialog, said } = await send(page);
    assert.match(said, /^No server is set up\./);
    assert.ok(said.includes(`chmod 600 ${file}`), said);
    assert.match(said, /to = [^]*token = /);
    // A file that names no server is as good as none.
    writeFileSync(file, `token = ${TOKEN}\n`, { mode: 0o600 });
    await dialog.getByRole('button', { name: 'Send' }).click();
    await dialog.getByText('Sending').waitFor({ state: 'hidden' });
    await dialog.getByText('No server is set up.').waitFor();
    writeFileSync(file, `to = ${server.address}\ntoken = ${TOKEN}\n`, { mode: 0o600 });
    await dialog.getByRole('button', { name: 'Send' }).click();
    await dialog.getByRole('link').waitFor();
  }));

test('a wrong token, and a file that others may read, are told as such', async () => {
  const wrong = `to = ${server.address}\ntoken = not-the-token-of-this-server\n`;
  await asUser(wrong, 0o600, async (page) => {
    const { said } = await send(page);
    assert.match(said, /^The trace was not sent:[^]*the server does not accept the token/);
  });
  await asUser(`to = ${server.address}\n`, 0o600, async (page) => {
    const { said } = await send(page);
    assert.match(said, /^The trace was not sent:[^]*the server wants a token: use --token-file/);
  });
  await asUser(`to = ${server.address}\ntoken = ${TOKEN}\n`, 0o644, async (page, file) => {
    const { said } = await send(page);
    assert.match(said, /^The trace was not sent:[^]*chmod 600/);
    assert.ok(said.includes(file), said);
  });
});

test('while a server does not answer the dialog may be closed', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  silent.unref();
  await once(silent, 'listening');
  await asUser(`to = http://127.0.0.1:${silent.address().port}/\n`, 0o600, async (page) => {
    await page.keyboard.press('Control+s');
    await page.getByRole('menuitem', { name: 'Send to server' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send to server' });
    await dialog.getByRole('button', { name: 'Send' }).click();
    await dialog.getByText('This goes on when the dialog is closed').waitFor();
    await page.keyboard.press('Escape');
    await until(() => dialog.count(), 0, 'the dialog');
  });
  silent.close();
});
