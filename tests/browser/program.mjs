// SPDX-License-Identifier: Apache-2.0
// The real program: as a viewer that serves a page, and as a command whose numbers are compared.
import { execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from './suite.mjs';

/** Servers that run: what a broken test leaves behind would keep this process alive. */
const running = new Set();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Nothing here touches the cache of whoever runs it. */
const cache = mkdtempSync(join(tmpdir(), 'traceview-cache-'));
process.on('exit', () => rmSync(cache, { recursive: true, force: true }));

function fromEnvironment(name, what) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} must name ${what}`);
  return value;
}

export const program = () => fromEnvironment('TRACEVIEW', 'the program to test');
export const example = () => fromEnvironment('TRACEVIEW_EXAMPLE', 'the example trace');

export function json(...command) {
  return JSON.parse(
    execFileSync(program(), [...command, '-q'], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    }),
  );
}

/**
 * A port that is probably free.  The kernel gives none below 32768 to others, so that a program can
 * be started again at its port.  The program itself takes the lowest that is free from 27180 on:
 * when one ends, that of another test has its port a moment later, and answers its page.  Browsers
 * refuse some ports, the greatest of which is 10080 (Fetch Standard, 2.10 "port blocking").
 */
const somePort = () => String(randomInt(10081, 27000));

/** Starts a server on some port, which the signal ends; `ended` is its exit code. */
async function start(words, signal, variables = {}) {
  for (;;) {
    try {
      return await startOn(somePort(), words, signal, variables);
    } catch (error) {
      // Another program was faster.
      if (!/Address already in use/.test(error.message)) throw error;
    }
  }
}

function startOn(port, words, signal, variables = {}) {
  const child = spawn(program(), [...words, '--port', port], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, XDG_CACHE_HOME: cache, XDG_STATE_HOME: '/dev/null', ...variables },
  });
  let output = '';
  running.add(child);
  const ended = new Promise((done) => child.on('exit', (code) => done(code)));
  void ended.then(() => running.delete(child));
  const address = new Promise((found, failed) => {
    const read = (text) => {
      output += text;
      const url = /http:\/\/127\.0\.0\.1:\d+\/\S*/.exec(output)?.[0];
      if (url) found(url);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', (code) =>
      failed(new Error(`the program ended with ${code} before it gave an address: ${output}`)),
    );
  });
  return address.then((url) => ({
    address: url,
    ended,
    stop: () => {
      child.kill(signal);
      return ended;
    },
  }));
}

/** Starts the viewer on files, with further variables, such as a folder for the recent files. */
export function viewWith(variables, ...files) {
  return start(['--no-browser', '-q', ...files], 'SIGINT', variables);
}

/** Starts the viewer on files. */
export const view = (...files) => viewWith({}, ...files);

/** Starts the viewer at the port of one that has ended, as the user who starts it again does. */
export const viewAgain = (address, ...files) =>
  startOn(new URL(address).port, ['--no-browser', '-q', ...files], 'SIGINT');

/** Starts the upload server on a store, without its sample. */
export async function serveStore(store, ...options) {
  const words = ['serve', '--store', store, '--no-sample', ...options];
  const server = await start(words, 'SIGTERM');
  return { ...server, address: new URL('/', server.address).href };
}
