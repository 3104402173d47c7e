// SPDX-License-Identifier: Apache-2.0
// An upload server of a few lines around the page in web/dist/hub.html: for states that are hard to
// come by with the real one (slow, failing, full, traces of every kind).
//
//     node mock-hub.mjs [PORT]       prints its address
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('../../web/dist/hub.html', import.meta.url));

/** An id of 32 digits. */
export const id = (n) => n.toString(16).padStart(32, '0');

export function made(n, other = {}) {
  return {
    ...{ id: id(n), name: `trace-${n}.trace`, bytes: 1000 * n, state: 'ready', error: null },
    ...{ uploaded: new Date(Date.UTC(2026, 10, 21, 12, 0) - n * 3_600_000).toISOString() },
    ...{ progress: null, format: 'Android method trace', version: '3', length_ns: 4_812_000_000 },
    ...{ events: 2_569_222, calls: 1_284_611, processes: ['com.acme.shop'], recorded: null },
    ...{ labels: [], note: '', pinned: false, expires: null },
    ...{
      threads: [{ index: 0, name: 'main', id: 1, process: 0, calls: 90 }],
      health: [],
      findings: [],
    },
    ...other,
  };
}

function bars(words) {
  const colour = (i) => ['#bed8fe', '#f0a875', '#8ee6f8', '#f79daa', '#9be9cb'][i % 5];
  const rows = Array.from({ length: 12 }, (_, i) => {
    const width = 1180 - i * 90 - ((i * 37) % 60);
    return `<rect x="10" y="${260 - i * 18}" width="${width}" height="17" fill="${colour(i)}"/>`;
  });
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="290" viewBox="0 0 1200 290">' +
    `<text x="10" y="24" font-size="18">${words}</text>${rows.join('')}</svg>`
  );
}

const KEYS = {
  uploaded: (t) => t.uploaded,
  name: (t) => t.name,
  bytes: (t) => t.bytes,
  length: (t) => t.length_ns ?? 0,
};

function line({ threads: _, health, findings, ...rest }) {
  const warnings = health.filter(({ severity }) => severity === 'warning').length;
  return { ...rest, warnings, finding_count: findings.length };
}

function list(traces, q) {
  const text = (q.get('q') ?? '').toLowerCase();
  const found = traces.filter(
    (t) =>
      [t.name, t.note, ...t.labels, ...t.processes].join('\n').toLowerCase().includes(text) &&
      (!q.has('label') || t.labels.includes(q.get('label'))) &&
      (!q.has('process') || t.processes.includes(q.get('process'))) &&
      (!q.has('since') || Date.parse(t.uploaded) >= Date.parse(q.get('since'))) &&
      (!q.has('until') || Date.parse(t.uploaded) < Date.parse(q.get('until'))),
  );
  const key = KEYS[q.get('sort') ?? 'uploaded'];
  found.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  if (q.get('order') !== 'asc') found.reverse();
  const from = Number(q.get('after') ?? 0);
  const end = from + Number(q.get('limit') ?? 50);
  return {
    traces: found.slice(from, end).map(line),
    total: found.length,
    after: end < found.length ? String(end) : null,
  };
}

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

/** What /api/hub tells, changed by `world.hub`. */
function about(world) {
  const bytes = world.traces.reduce((sum, t) => sum + t.bytes, 0);
  const open = world.token === undefined || world.known === true;
  return {
    ...{
      version: '1.0',
      name: 'traces.example',
      login: world.token === undefined ? null : 'token',
    },
    ...{ may: { upload: open, list: open, change: open }, sample: null },
    ...{ limits: { upload_bytes: null, keep_seconds: null, store_bytes: null } },
    ...{
      store: open ? { traces: world.traces.length, bytes } : null,
      sandbox: ['seccomp', 'landlock'],
      reports: true,
    },
    ...world.hub,
  };
}

function create(world, request) {
  const [, name] = /filename (\S+)/.exec(request.headers['upload-metadata'] ?? '') ?? [];
  const uid = `u${world.uploads.size + 1}`;
  world.uploads.set(uid, {
    name: Buffer.from(name ?? '', 'base64').toString(),
    size: Number(request.headers['upload-length']),
    data: Buffer.alloc(0),
  });
  return { status: 201, headers: { Location: `/api/uploads/${uid}` } };
}

async function upload(world, request, uid) {
  const one = world.uploads.get(uid);
  if (!one) return { status: 404, json: { error: 'there is no such upload' } };
  if (request.method === 'DELETE') {
    world.uploads.delete(uid);
    return { status: 204 };
  }
  if (request.method === 'PATCH') {
    if (Number(request.headers['upload-offset']) !== one.data.length)
      return { status: 409, json: { error: 'the offset is another' } };
    one.data = Buffer.concat([one.data, await bodyOf(request)]);
  }
  const headers = { 'Upload-Offset': one.data.length, 'Upload-Length': one.size };
  if (request.method === 'HEAD') return { status: 200, headers };
  if (one.data.length === one.size) {
    const trace = made(1000 + world.traces.length, {
      ...{ name: one.name, bytes: one.size, uploaded: new Date().toISOString() },
      ...world.fresh,
    });
    world.traces.unshift(trace);
    world.arrived.push(one.data);
    world.uploads.delete(uid);
    headers['Traceview-Location'] = `/t/${trace.id}/`;
  }
  return { status: 204, headers };
}

async function oneTrace(world, request, which) {
  const trace = world.traces.find((t) => t.id === which);
  if (!trace) return { status: 404, json: { error: 'there is no such trace' } };
  if (request.method === 'DELETE') {
    world.traces.splice(world.traces.indexOf(trace), 1);
    return { status: 204 };
  }
  if (request.method === 'PATCH') Object.assign(trace, JSON.parse(await bodyOf(request)));
  return { status: 200, json: trace };
}

async function login(world, request) {
  world.known = (await bodyOf(request)).toString() === world.token;
  return world.known ? { status: 204 } : { status: 403, json: { error: 'this is not the token' } };
}

async function answer(world, request, url) {
  const path = url.pathname;
  const [, trace, rest] = /^\/t\/([0-9a-f]{32})\/(.*)$/.exec(path) ?? [];
  if (path === '/' || rest === '') return { status: 200, html: readFileSync(page) };
  if (path === '/api/hub') return { status: 200, json: about(world) };
  if (path === '/login') return await login(world, request);
  if (path === '/logout') {
    world.known = false;
    return { status: 204 };
  }
  if (world.token !== undefined && !world.known)
    return { status: 401, json: { error: 'log in first' } };
  if (path === '/api/traces') return { status: 200, json: list(world.traces, url.searchParams) };
  if (path === '/api/uploads') return create(world, request);
  const [, again] = /^\/api\/traces\/(\w+)\/read$/.exec(path) ?? [];
  if (again) {
    const found = world.traces.find((t) => t.id === again);
    Object.assign(found, { state: 'waiting', error: null });
    return { status: 200, json: found };
  }
  const [, kind, which] = /^\/api\/(uploads|traces)\/(\w+)$/.exec(path) ?? [];
  if (kind === 'uploads') return await upload(world, request, which);
  if (kind === 'traces') return await oneTrace(world, request, which);
  if (rest === 'flamegraph.svg')
    return { status: 200, svg: world.svg ?? bars(`thread ${url.searchParams.get('thread')}`) };
  if (trace) return { status: 200, text: `${rest} of ${trace}` };
  return { status: 404, json: { error: 'there is nothing here' } };
}

function write(response, { status, headers = {}, json, html, svg, text }) {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-store');
  const types = {
    json: 'application/json',
    html: 'text/html',
    svg: 'image/svg+xml',
    text: 'text/plain',
  };
  const body = { json: json && JSON.stringify(json), html, svg, text };
  const kind = Object.keys(body).find((name) => body[name] !== undefined);
  if (kind) response.setHeader('Content-Type', `${types[kind]}; charset=utf-8`);
  response.statusCode = status;
  response.end(kind ? body[kind] : undefined);
}

/**
 * `world` may hold traces, hub (what /api/hub tells instead), token (to log in with), fresh (what an
 * uploaded trace is) and `before(request, url)`: an answer instead of the usual one, "cut" to break
 * the connection, or nothing; it may wait.  `asked` are the requests, "GET /api/hub".
 */
export function serveHub(world = {}, port = 0) {
  world.traces ??= [];
  world.uploads = new Map();
  world.arrived = [];
  const asked = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1');
    asked.push(`${request.method} ${url.pathname}${url.search}`);
    const answered = async () => {
      const other = await world.before?.(request, url);
      if (other === 'cut') return void request.socket.destroy();
      if (other) request.resume();
      write(response, other ?? (await answer(world, request, url)));
    };
    answered().catch((error) => write(response, { status: 500, json: { error: error.message } }));
  });
  return new Promise((ready) =>
    server.listen(port, '127.0.0.1', () => {
      server.unref(); // a test that fails does not close it
      ready({
        address: `http://127.0.0.1:${server.address().port}/`,
        asked,
        world,
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      });
    }),
  );
}

const THREADS = [
  'main',
  'OkHttp api.acme.shop',
  'DefaultDispatcher-worker-1',
  'arch_disk_io_0',
  'JDWP',
];

/** Traces of every kind, for the eye and for tests. */
export function someTraces() {
  const threads = THREADS.map((name, index) => ({
    ...{ index, name, id: index * 5 + 1, process: 0, calls: 400 - 100 * index },
  }));
  return [
    made(1, {
      ...{
        name: 'app-startup.trace',
        bytes: 12_400_000,
        pinned: true,
        labels: ['startup', 'v2.4'],
      },
      ...{ note: 'Cold start on a Pixel 6,\nbefore the change of the image loader.', threads },
      recorded: '2026-11-20T08:12:00Z',
      health: [
        { kind: 'unmatched-exit', text: 'an exit without an entry', severity: 'note', count: 12 },
        { kind: 'overflow', text: 'the recording buffer was full', severity: 'warning', count: 1 },
      ],
      findings: [
        {
          ...{ title: 'Long calls on the main thread', severity: 'warning' },
          text: '3 calls on the main thread last longer than 500 ms, 2.214 s together.',
        },
        {
          ...{ title: 'Deep recursion', severity: 'note' },
          text: 'LayoutInflater.rInflate calls itself 14 levels deep.',
        },
      ],
    }),
    made(2, {
      ...{ name: 'scroll-list.json.gz', bytes: 3_212_000_000, format: 'Trace Event JSON' },
      ...{
        version: '',
        calls: 0,
        events: 18_204_113,
        labels: ['chrome'],
        expires: '2026-12-21T12:00:00Z',
      },
      ...{ processes: ['Browser', 'Renderer', 'GPU Process'], length_ns: 91_201_000_000 },
    }),
    made(3, {
      ...{ name: 'broken.trace', state: 'failed', format: null, version: null, length_ns: null },
      ...{ events: null, calls: null, processes: [], threads: [] },
      error: {
        message: 'line 4,118 of the method table has 2 fields instead of 6',
        offset: 311_284,
        remedy:
          'The file was cut off while it was written or copied. Copy it again, or record it again.',
      },
    }),
    made(4, {
      ...{
        name: 'bazel-profile.gz',
        state: 'reading',
        progress: 0.42,
        format: null,
        version: null,
      },
      ...{ length_ns: null, events: null, calls: null, processes: [], threads: [] },
    }),
    made(5, {
      ...{ name: 'systrace.html', format: 'Linux ftrace', version: null, calls: 0, events: 44_120 },
      ...{ processes: ['system_server'], labels: ['nightly', 'device-7'] },
    }),
    ...Array.from({ length: 70 }, (_, i) =>
      made(i + 6, { processes: [i % 2 ? 'com.acme.shop' : 'com.acme.mail'] }),
    ),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const hub = {
    sample: id(1),
    limits: { upload_bytes: 5e9, keep_seconds: 2_592_000, store_bytes: null },
  };
  const { address } = await serveHub({ traces: someTraces(), hub }, Number(process.argv[2] ?? 0));
  console.log(address);
}
