// SPDX-License-Identifier: Apache-2.0
// Serves dist/index.html over the made-up trace of mock-engine.mjs: for work on the page without
// the program, and for the tests of the page's own behaviour.
//
//     node tools/mock-server.mjs [PORT]       prints its address
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as mock from './mock-engine.mjs';

const page = fileURLToPath(new URL('../dist/index.html', import.meta.url));

function lanesOf(text) {
  return text.split(',').flatMap((word) => {
    const [, kind, first, last] = /^([riw])(\d+)(?:-(\d+))?$/.exec(word);
    return Array.from({ length: Number(last ?? first) - Number(first) + 1 }, (_, i) => [
      kind,
      Number(first) + i,
    ]);
  });
}

function scopeOf(q) {
  const n = (name) => (q.has(name) ? Number(q.get(name)) : undefined);
  return { from: n('from'), to: n('to'), tracks: q.get('tracks')?.split(',').map(Number) };
}

const STATUS = {
  ...{ state: 'ready', name: 'made-up.trace', bytes: 1, total_bytes: 1, records: 2 },
  trace: 1,
  inputs: [{ input: 0, name: 'made-up.trace', offset_ns: '0' }],
  files: [{ input: 0, name: 'made-up.trace', bytes: null }],
  start: [{ input: 0, offset_ns: '0' }],
};

/** Each answer: an object goes out as JSON, a Buffer as it is, null as null. */
const ANSWERS = {
  status: (t) => ({ ...STATUS, ...t.status }),
  trace: (t) => ({ ...mock.facts(t), ...t.facts }),
  frames: (t) => ({ frames: t.frames }),
  profile: (t, q) => mock.profile(t, scopeOf(q)),
  relations: (t, q) => mock.relations(t, Number(q.get('frame')), scopeOf(q)),
  slice: (t, q) =>
    mock.slice(t, Number(q.get('row')), Number(q.get('index'))) ?? {
      error: 'there is no such call',
    },
  step: (t, q) =>
    mock.step(
      t,
      Number(q.get('frame')),
      Number(q.get('t')),
      Number(q.get('direction')),
      scopeOf(q).tracks,
    ),
  search_step: (t, q) => mock.searchStep(t, q),
  extents: (t, q) => mock.extents(t, Number(q.get('frame')), scopeOf(q), Number(q.get('pixels'))),
  tiles: (t, q) =>
    mock.tiles(
      t,
      Number(q.get('res')),
      Number(q.get('from')),
      Number(q.get('to')),
      lanesOf(q.get('rows')),
    ),
  flame: (t, q) =>
    mock.flame(t, {
      ...scopeOf(q),
      clock: q.get('clock'),
      order: q.get('order'),
      inverted: q.get('inverted') === '1',
      root: q.has('root') ? Number(q.get('root')) : undefined,
      min: Number(q.get('min') ?? 0),
    }),
  activity: (t, q) => mock.activity(t, Number(q.get('buckets'))),
  health: (t) => ({
    readable: [false],
    diagnostics: ANSWERS.trace(t).diagnostics.map(({ offsets, ...kind }) => ({
      ...kind,
      places: offsets.map((offset) => ({ offset, line: null, excerpt: '' })),
    })),
  }),
  statistics: (t, q) =>
    q.has('frame')
      ? {
          row: [Number(q.get('frame')), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
          ...{ bounds: [], counts: [], slowest: [] },
        }
      : { rows: [] },
  findings: () => ({ looked_at: 0, rules: [] }),
  search: () => ({ hits: [], next: null, count: 0, done: 1, of: 1 }),
  quit: () => ({}),
  cancel: (t) => {
    t.status = { ...t.status, state: 'empty', name: '', inputs: [], error: undefined };
    return {};
  },
};

/**
 * `trace.status` and `trace.facts` replace what those questions answer; `asked` counts questions.
 * From `hangUp` to `answer` nothing is answered; nobody else gets the port meanwhile.
 */
export function serve(trace, port = 0) {
  const asked = {};
  let silent = false;
  const server = createServer((request, response) => {
    if (silent) return request.socket.destroy();
    const url = new URL(request.url, 'http://127.0.0.1');
    const name = /\/api\/(\w+)$/.exec(url.pathname)?.[1];
    if (!name) {
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      return response.end(readFileSync(page));
    }
    asked[name] = (asked[name] ?? 0) + 1;
    if (!ANSWERS[name]) throw new Error(`the made-up engine has no answer to ${name}`);
    const answer = ANSWERS[name](trace, url.searchParams);
    if (Buffer.isBuffer(answer)) return response.end(answer);
    response.setHeader('Content-Type', 'application/json');
    if (answer?.error && name !== 'status') response.statusCode = 400;
    return response.end(JSON.stringify(answer));
  });
  return new Promise((ready) =>
    server.listen(port, '127.0.0.1', () => {
      server.unref(); // a test that fails does not close it
      ready({
        address: `http://127.0.0.1:${server.address().port}/token/`,
        asked,
        hangUp: () => {
          silent = true;
          server.closeAllConnections();
        },
        answer: () => {
          silent = false;
        },
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      });
    }),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { address } = await serve(mock.makeTrace(), Number(process.argv[2] ?? 0));
  console.log(address);
  setInterval(() => {}, 1e9); // until it is interrupted
}
