// SPDX-License-Identifier: Apache-2.0
// A hundred questions about a trace whose facts are known: every question of docs/view-protocol.md,
// in ranges, of tracks, with filters, and some that are wrong.

const NAMES = ['main', 'a', 'Lj', '.', 'zzz not there'];

function address(name, parameters = {}) {
  const query = new URLSearchParams(
    Object.entries(parameters).map(([key, value]) => [key, String(value)]),
  );
  return query.size > 0 ? `${name}?${query}` : name;
}

/** Ranges in the trace: all of it, a half, a piece, nothing, what lies outside. */
function rangesOf({ start_ns, end_ns }) {
  const length = end_ns - start_ns;
  const at = (share) => Math.floor(start_ns + length * share);
  return [
    {},
    { from: start_ns, to: at(0.5) },
    { from: at(0.31), to: at(0.47) },
    { from: at(0.5), to: at(0.5) },
    { from: end_ns + 5, to: end_ns + 900 },
  ];
}

function scoped(facts) {
  const tracks = facts.tracks.map(({ track }) => track);
  const ranges = rangesOf(facts);
  const [all, half, piece] = ranges;
  const some = { tracks: tracks.slice(0, 2).join(',') };
  const kinds = [
    ['profile', {}],
    ['statistics', { clock: facts.axis }],
    ['findings', {}],
    ['display_frames', {}],
    ['states', {}],
    ['facts', {}],
    ['tree', { nodes: 0, below: 1 }],
    ['tree', { nodes: 0, bottom_up: 1 }],
    ['sample_profile', { measure: 'weight' }],
    ['sample_tree', { nodes: 0, measure: 'count' }],
    ['sample_relations', { frame: 0, measure: 'count' }],
  ];
  return [
    ...ranges.map((range) => address('profile', range)),
    ...kinds.flatMap(([name, own]) =>
      [all, half, piece, { ...piece, ...some }].map((scope) => address(name, { ...own, ...scope })),
    ),
  ];
}

function flames(facts) {
  const [, half, piece] = rangesOf(facts);
  const clock = facts.axis;
  return [
    { clock, order: 'left-heavy' },
    { clock, order: 'by-name', ...half },
    { clock, order: 'time', ...piece },
    { clock, order: 'left-heavy', inverted: 1 },
    { clock, order: 'left-heavy', fold: 1, threads: 'apart' },
    { clock, order: 'left-heavy', frame: 1, side: 'callers' },
    { clock, order: 'left-heavy', frame: 0, side: 'callees', min: 0.01 },
  ]
    .map((own) => address('flame', own))
    .concat(
      address('sample_flame', { measure: 'count', order: 'left-heavy' }),
      address('sample_chart', { threads: '0', pixels: 200, ...half }),
      address('sample_flame', { measure: 'time', order: 'left-heavy', inverted: 1 }),
      address('flamegraph', { title: 'a <title> & more' }),
      address('collapsed', half),
    );
}

function drawn(facts) {
  const [, half, piece] = rangesOf(facts);
  const rows = Math.max(...facts.tracks.map((track) => track.first_row + track.rows), 1);
  const lanes = `r0-${Math.min(rows, 40) - 1},i0,w0`;
  const resolutions = [0, 6, 12, 20, 26, 33];
  const pixels = 800;
  return [
    ...resolutions.map((res) => address('tiles', { res, from: 0, to: 3, rows: lanes })),
    address('activity', { buckets: 300 }),
    address('extents', { frame: 0, pixels }),
    address('extents', { frame: 1, pixels, ...half }),
    address('counters'),
    address('counter_values', { counters: 0, ...piece, pixels }),
    address('counter_figures', { ...half, at: half.from }),
    ...['change', 'peak', 'trough'].map((to) =>
      address('counter_step', { counter: 0, series: 0, t: half.from, direction: 1, to }),
    ),
    ...['instants', 'samples', 'memory_dumps', 'display_marks'].map((name) =>
      address(name, { ...half, pixels }),
    ),
    address('objects', { rows: 0, ...half, pixels }),
    address('arrows', { ...half, pixels, categories: '' }),
    address('arrows', { pixels, categories: 0 }),
    address('beside'),
    address('flow_categories'),
  ];
}

function ones(facts) {
  const things = ['instant', 'flow', 'object', 'snapshot', 'sample', 'memory_dump'];
  const at = Math.floor((facts.start_ns + facts.end_ns) / 2);
  return [
    ...things.flatMap((thing) => [0, 3].map((number) => address(thing, { [thing]: number }))),
    ...[0, 1, 2].map((index) => address('slice', { row: 0, index })),
    address('inside', { row: 0, index: 0 }),
    address('slice', { row: 1, index: 0 }),
    address('slice', { id: 1 }),
    address('state', { row: 0, index: 0 }),
    address('flows', { row: 0, index: 0 }),
    address('step', { frame: 0, t: at, direction: 1 }),
    address('step', { frame: 1, t: at, direction: -1 }),
    address('search_step', { q: 'a', t: at, direction: 1 }),
    address('search_step', { q: 'e', re: 1, t: at, row: 0, index: 0, direction: -1 }),
    address('reference', { snapshot: 0, id: '0x1' }),
    ...[0, 1, 2].map((frame) => address('relations', { frame })),
    address('statistics', { frame: 0, clock: facts.axis }),
  ];
}

function texts() {
  return [
    address('trace'),
    address('frames'),
    address('health'),
    address('at', { offset: 100, input: 0 }),
    address('bytes', { offset: 16, length: 200, input: 0 }),
    ...NAMES.map((q) => address('search', { q, in: 'name', case: 0, limit: 50 })),
    address('search', { q: 'a', in: 'name,args', case: 1, limit: 20 }),
    address('search_frames', { q: '^.*[aeiou]{2}', case: 0, re: 1 }),
    address('save', { as: 'json' }),
    address('save', { as: 'trace' }),
  ];
}

function filtered() {
  const filter = 'name:a';
  return [
    ...['trace', 'profile', 'findings'].map((name) => address(name, { filter })),
    address('same', { row: 0, index: 0, filter }),
    address('profile', { filter: 'duration > 1us' }),
  ];
}

const WRONG = [
  'nothing',
  'slice?row=99999999&index=0',
  'slice?row=0',
  'slice?id=99999999',
  'profile?from=x',
  'profile?from=5&from=6',
  'profile?filter=%22',
  'search?q=%ZZ',
  'tiles?res=99&from=0&to=0&rows=r0',
];

export function questionsFor(facts) {
  return [
    ...texts(),
    ...scoped(facts),
    ...flames(facts),
    ...drawn(facts),
    ...ones(facts),
    ...filtered(),
    ...WRONG,
  ];
}
