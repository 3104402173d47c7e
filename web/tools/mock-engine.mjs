// SPDX-License-Identifier: Apache-2.0
// A little made-up trace and the answers to every question about it, worked out the plain way: by
// looking at every call.  It stands in for the program where only the page is tested.

const SHAPE = {
  // caller: calls inside, and how much of its time they take
  'android.app.ActivityThread.main': [['android.os.Looper.loop', 1]],
  'android.os.Looper.loop': [
    ['android.os.MessageQueue.next', 0.3],
    ['android.os.Handler.dispatchMessage', 0.7],
  ],
  'android.os.MessageQueue.next': [['android.os.MessageQueue.nativePollOnce', 1]],
  'android.os.Handler.dispatchMessage': [
    ['com.acme.shop.home.HomeActivity.onCreate', 0.5],
    ['android.view.Choreographer.doFrame', 0.5],
  ],
  'com.acme.shop.home.HomeActivity.onCreate': [
    ['android.view.LayoutInflater.inflate', 0.7],
    ['com.acme.shop.data.CartRepository.<init>', 0.3],
  ],
  'android.view.LayoutInflater.inflate': [['android.view.LayoutInflater.rInflate', 1]],
  'android.view.LayoutInflater.rInflate': [
    ['android.view.LayoutInflater.createViewFromTag', 0.5],
    ['android.view.LayoutInflater.rInflate', 0.4],
    ['java.util.HashMap.get', 0.1],
  ],
  'android.view.Choreographer.doFrame': [
    ['android.view.View.measure', 0.4],
    ['android.view.View.draw', 0.4],
    ['java.util.HashMap.get', 0.2],
  ],
  'android.view.View.measure': [
    ['android.view.View.measure', 0.5],
    ['java.lang.String.hashCode', 0.1],
  ],
  'com.acme.shop.net.Api.run': [
    ['okhttp3.RealCall.getResponseWithInterceptorChain', 0.6],
    ['com.squareup.moshi.JsonUtf8Reader.nextName', 0.4],
  ],
  'okhttp3.RealCall.getResponseWithInterceptorChain': [['okhttp3.internal.Socket.read', 0.8]],
  'com.squareup.moshi.JsonUtf8Reader.nextName': [
    ['java.lang.String.hashCode', 0.4],
    ['java.util.HashMap.get', 0.4],
  ],
};
const SIGNATURES = {
  inflate: '(ILandroid/view/ViewGroup;Z)Landroid/view/View;',
  onCreate: '(Landroid/os/Bundle;)V',
  main: '([Ljava/lang/String;)V',
  '<init>': '()V',
};
const WAITING = /nativePollOnce|Socket\.read/;
const FLAG = { unrolled: 1, enteredBefore: 2, openAtEnd: 4, missingExit: 8, hasChildren: 16 };

function random(seed) {
  let s = seed;
  return () => {
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function makeTrace({ length = 2e9, busy = 1 } = {}) {
  const rnd = random(7);
  const frames = [];
  const frameOf = new Map();
  const frame = (name) => {
    if (!frameOf.has(name)) {
      frameOf.set(name, frames.length);
      const cut = name.lastIndexOf('.');
      const method = name.slice(cut + 1);
      frames.push([
        name.slice(0, cut),
        method,
        SIGNATURES[method] ?? '()V',
        `${name.slice(0, cut).split('.').at(-1)}.java`,
        10 + frames.length,
        0,
      ]);
    }
    return frameOf.get(name);
  };
  const tracks = [];
  let row = 0;
  const thread = (id, name, body) => {
    const calls = [];
    const put = (method, start, end, parent, flags = 0) => {
      const call = {
        frame: frame(method),
        start: Math.round(start),
        end: Math.round(end),
        parent,
        kids: [],
        flags,
        waits: [],
        depth: parent ? parent.depth + 1 : 0,
      };
      if (parent) parent.kids.push(call);
      calls.push(call);
      if (WAITING.test(method) && end - start > 1e5)
        call.waits.push([
          Math.round(start + (end - start) * 0.1),
          Math.round(end - (end - start) * 0.1),
        ]);
      return call;
    };
    const grow = (call, most) => {
      const name = frames[call.frame].slice(0, 2).join('.');
      const kids = SHAPE[name];
      if (!kids || call.depth >= most || call.end - call.start < 2000) return;
      const span = call.end - call.start;
      const rounds =
        call.depth < 2 ? (call.depth === 1 ? Math.ceil(40 * busy) : 1) : 1 + Math.floor(rnd() * 4);
      let t = call.start + span * 0.01;
      for (let i = 0; i < rounds; i++) {
        for (const [kid, share] of kids) {
          const part = ((span * 0.97) / rounds) * share * (call.depth < 2 ? 1 : 0.4 + 0.6 * rnd());
          if (part < 800 || t + part > call.end) continue;
          const unrolled = rnd() < 0.02 && call.depth > 3;
          grow(put(kid, t, t + part * 0.96, call, unrolled ? FLAG.unrolled : 0), most);
          t += part;
        }
      }
    };
    body(put, grow);
    const depths = Math.max(...calls.map((c) => c.depth)) + 1;
    const rows = Array.from({ length: depths }, (_, d) =>
      calls.filter((c) => c.depth === d).sort((a, b) => a.start - b.start),
    );
    const track = {
      track: tracks.length,
      thread_id: id,
      name,
      first_row: row,
      rows,
      calls,
      waits: [],
    };
    rows.forEach((list, d) =>
      list.forEach((c, i) => Object.assign(c, { row: row + d, index: i, track })),
    );
    for (const c of calls)
      for (const w of c.waits) track.waits.push({ start: w[0], end: w[1], call: c });
    track.waits.sort((a, b) => a.start - b.start);
    row += depths;
    tracks.push(track);
  };
  thread(1, 'main', (put, grow) =>
    grow(
      put('android.app.ActivityThread.main', 0, length, null, FLAG.enteredBefore | FLAG.openAtEnd),
      12,
    ),
  );
  thread(36, 'OkHttp api.acme.shop', (put, grow) => {
    for (let t = length * 0.08; t < length * 0.9; t += length * (0.05 + 0.1 * rnd()))
      grow(put('com.acme.shop.net.Api.run', t, t + length * 0.045, null), 8);
  });
  thread(28, 'arch_disk_io_0', (put, grow) => {
    for (let t = length * 0.2; t < length * 0.8; t += length * 0.11)
      grow(put('com.squareup.moshi.JsonUtf8Reader.nextName', t, t + length * 0.02, null), 6);
  });
  const trace = { length, frames, tracks, rows: tracks.flatMap((t) => t.rows) };
  rankFrames(trace);
  return trace;
}

/** CPU time of a call between two times: all of it but its own and its callees' waits. */
function cpu(call, from, to) {
  let t = Math.min(call.end, to) - Math.max(call.start, from);
  for (const w of call.track.waits) {
    const a = Math.max(w.start, from, call.start);
    const b = Math.min(w.end, to, call.end);
    if (b > a) t -= b - a;
  }
  return t;
}

/** Calls of some tracks in a range, clipped, with their times and whether they are recursive. */
function* clipped(trace, q) {
  const from = q.from ?? 0;
  const to = q.to ?? trace.length;
  for (const track of trace.tracks) {
    if (q.tracks && !q.tracks.includes(track.track)) continue;
    for (const call of track.calls) {
      if (call.end <= from || call.start >= to) continue;
      const real = Math.min(call.end, to) - Math.max(call.start, from);
      let recursion = 0;
      for (let up = call.parent; up; up = up.parent) if (up.frame === call.frame) recursion++;
      yield { call, real, cpu: cpu(call, from, to), recursion };
    }
  }
}

function timed(trace, q) {
  const found = new Map();
  for (const c of clipped(trace, q)) found.set(c.call, c);
  for (const c of found.values()) {
    c.exclReal = c.real;
    c.exclCpu = c.cpu;
    for (const kid of c.call.kids) {
      const k = found.get(kid);
      if (k) {
        c.exclReal -= k.real;
        c.exclCpu -= k.cpu;
      }
    }
  }
  return found;
}

export function profile(trace, q = {}) {
  const rows = new Map();
  const totals = [0, 0];
  for (const c of timed(trace, q).values()) {
    const row = rows.get(c.call.frame) ?? [c.call.frame, 0, 0, 0, 0, 0, 0];
    rows.set(c.call.frame, row);
    if (c.recursion === 0) {
      row[1]++;
      row[3] += c.real;
      row[5] += c.cpu;
    } else row[2]++;
    row[4] += c.exclReal;
    row[6] += c.exclCpu;
    if (!c.call.parent) {
      totals[0] += c.real;
      totals[1] += c.cpu;
    }
  }
  const waits = { calls: 0, real_ns: 0 };
  for (const track of trace.tracks) {
    if (q.tracks && !q.tracks.includes(track.track)) continue;
    for (const w of track.waits) {
      const t = Math.min(w.end, q.to ?? trace.length) - Math.max(w.start, q.from ?? 0);
      if (t <= 0) continue;
      waits.calls++;
      waits.real_ns += t;
    }
  }
  return {
    total_real_ns: totals[0],
    total_cpu_ns: totals[1],
    rows: [...rows.values()].sort((a, b) => a[0] - b[0]),
    waits,
  };
}

function rankFrames(trace) {
  const rows = profile(trace).rows.sort((a, b) => b[5] - a[5] || a[0] - b[0]);
  rows.forEach((row, i) => {
    trace.frames[row[0]][5] = i + 1;
  });
}

export function relations(trace, frame, q = {}) {
  const lists = {
    parents: new Map(),
    children: new Map(),
    recursive_parents: new Map(),
    recursive_children: new Map(),
  };
  const self = [0, 0];
  const recursiveSelf = [0, 0];
  const found = timed(trace, q);
  const totals = new Map();
  for (const c of found.values()) totals.set(c.call.frame, (totals.get(c.call.frame) ?? 0) + 1);
  const add = (list, key, child, c) => {
    const row = list.get(key) ?? [key, 0, totals.get(child), 0, 0];
    list.set(key, [key, row[1] + 1, row[2], row[3] + c.real, row[4] + c.cpu]);
  };
  for (const c of found.values()) {
    if (c.call.frame === frame) {
      const own = c.recursion === 0 ? self : recursiveSelf;
      own[0] += c.exclReal;
      own[1] += c.exclCpu;
      add(
        c.recursion === 0 ? lists.parents : lists.recursive_parents,
        c.call.parent ? c.call.parent.frame : -1,
        frame,
        c,
      );
    }
    const parent = c.call.parent && found.get(c.call.parent);
    if (parent && parent.call.frame === frame)
      add(
        parent.recursion === 0 ? lists.children : lists.recursive_children,
        c.call.frame,
        c.call.frame,
        c,
      );
  }
  const sorted = Object.fromEntries(
    Object.entries(lists).map(([name, list]) => [
      name,
      [...list.values()].sort((a, b) => b[3] - a[3]),
    ]),
  );
  return { ...sorted, self, recursive_self: recursiveSelf };
}

export function slice(trace, row, index) {
  const list = trace.rows[row];
  const call = list?.[index];
  if (!call) return null;
  const c = timed(trace, { tracks: [call.track.track] }).get(call);
  const path = [];
  for (let up = call.parent; up; up = up.parent) path.unshift([up.row, up.index, up.frame]);
  const same = call.track.calls
    .filter((k) => k.frame === call.frame)
    .sort((a, b) => a.start - b.start || a.row - b.row);
  const name = (k) => (k ? [k.row, k.index] : null);
  return {
    row,
    index,
    track: call.track.track,
    depth: call.depth,
    frame: call.frame,
    start_ns: call.start,
    length_ns: call.end - call.start,
    cpu_start_ns: call.start,
    cpu_length_ns: c.cpu,
    excl_real_ns: c.exclReal,
    excl_cpu_ns: c.exclCpu,
    wait_ns: c.real - c.cpu,
    children: call.kids.length,
    unrolled: (call.flags & 1) !== 0,
    entered_before: (call.flags & 2) !== 0,
    open_at_end: (call.flags & 4) !== 0,
    missing_exit: false,
    recursion: c.recursion,
    path,
    first_child: name(call.kids[0]),
    previous: name(list[index - 1]),
    next: name(list[index + 1]),
    nth: same.indexOf(call) + 1,
    of: same.length,
  };
}

export function step(trace, frame, t, direction, tracks) {
  let best = null;
  for (const track of trace.tracks) {
    if (tracks && !tracks.includes(track.track)) continue;
    for (const c of track.calls) {
      if (c.frame !== frame || (direction > 0 ? c.start <= t : c.start >= t)) continue;
      if (
        !best ||
        direction * (c.start - best.start) < 0 ||
        (c.start === best.start && c.row < best.row)
      )
        best = c;
    }
  }
  return best && [best.row, best.index];
}

/** The calls whose names hold a text, without regular expressions and signatures. */
export function searchStep(trace, q) {
  const text = q.get('q').toLowerCase();
  const holds = ([className, name]) => `${className}.${name}`.toLowerCase().includes(text);
  const key = (c) => [c.start, c.row, c.index];
  const compare = (a, b) => a.map((n, i) => n - b[i]).find((n) => n !== 0) ?? 0;
  const calls = trace.tracks
    .flatMap((track) => track.calls)
    .filter((c) => holds(trace.frames[c.frame]))
    .sort((a, b) => compare(key(a), key(b)));
  const n = (name, otherwise) => Number(q.get(name) ?? otherwise);
  const direction = n('direction', 1);
  const side = direction > 0 ? Infinity : -Infinity;
  const from = [n('t', 0), n('row', side), n('index', side)];
  const there = calls.filter((c) => direction * compare(key(c), from) > 0);
  const found = (there.length > 0 ? there : calls).at(direction > 0 ? 0 : -1);
  return {
    call: found ? [found.row, found.index] : null,
    nth: found ? calls.indexOf(found) + 1 : 0,
    of: calls.length,
    wrapped: calls.length > 0 && there.length === 0,
  };
}

export function extents(trace, frame, q, pixels) {
  const near = ((q.to ?? trace.length) - (q.from ?? 0)) / pixels;
  const tracks = [];
  for (const track of trace.tracks) {
    const list = [];
    for (const c of track.calls
      .filter((k) => k.frame === frame && k.end > (q.from ?? 0) && k.start < (q.to ?? trace.length))
      .sort((a, b) => a.start - b.start)) {
      if (list.length && c.start - list.at(-1) < near)
        list[list.length - 1] = Math.max(list.at(-1), c.end);
      else list.push(c.start, c.end);
    }
    if (list.length) tracks.push([track.track, list]);
  }
  return { tracks };
}

/** The pieces of a thread in which each call was the innermost one. */
function innermost(track) {
  if (track.pieces) return track.pieces;
  const pieces = [];
  const put = (call, start, end) => {
    if (end > start) pieces.push({ call, start, end });
  };
  for (const call of track.calls) {
    let t = call.start;
    for (const kid of [...call.kids].sort((a, b) => a.start - b.start)) {
      put(call, t, kid.start);
      t = kid.end;
    }
    put(call, t, call.end);
  }
  track.pieces = pieces.sort((a, b) => a.start - b.start);
  return track.pieces;
}

function laneItems(trace, kind, row) {
  if (kind === 'r')
    return (trace.rows[row] ?? []).map((c) => ({
      call: c,
      start: c.start,
      end: c.end,
      index: c.index,
    }));
  const track = trace.tracks[row];
  if (kind === 'i') return innermost(track).map((p) => ({ ...p, index: p.call.index }));
  return track.waits.map((w, i) => ({ ...w, index: i }));
}

class Writer {
  constructor() {
    this.parts = [];
    this.length = 0;
  }

  put(array) {
    const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
    this.parts.push(bytes);
    this.length += bytes.length;
  }

  text(text) {
    this.put(Buffer.from(text));
  }
  u32(...n) {
    this.put(Uint32Array.from(n));
  }
  f64(...n) {
    this.put(Float64Array.from(n));
  }
  align(size) {
    this.put(Buffer.alloc((size - (this.length % size)) % size));
  }
  u32s(list) {
    this.put(Uint32Array.from(list));
    this.align(8);
  }
  end() {
    return Buffer.concat(this.parts);
  }
}

function writeTile(w, trace, kind, row, res, number) {
  const pixel = 2 ** res;
  const from = number * 512 * pixel;
  const to = from + 512 * pixel;
  const items = laneItems(trace, kind, row).filter((s) => s.end > from && s.start < to);
  const big = items.filter((s) => s.end - s.start >= 2 * pixel);
  const small = items.filter((s) => s.end - s.start < 2 * pixel && s.start >= from);
  w.align(8);
  w.u32({ r: 0, i: 1, w: 2 }[kind], row, res, big.length);
  w.f64(number);
  w.u32(small.length ? 1 : 0, 0);
  w.f64(...big.map((s) => s.start));
  w.f64(...big.map((s) => s.end - s.start));
  w.u32s(big.map((s) => s.call.row));
  w.u32s(big.map((s) => s.index));
  w.u32s(big.map((s) => s.call.frame));
  w.u32s(big.map((s) => s.call.flags | (s.call.kids.length ? FLAG.hasChildren : 0)));
  if (!small.length) return;
  const frames = new Uint32Array(512);
  const heights = new Uint8Array(512);
  const longest = new Float64Array(512);
  const covered = new Float64Array(512);
  for (const s of small) {
    const p = Math.floor((s.start - from) / pixel);
    covered[p] += s.end - s.start;
    if (s.end - s.start >= longest[p]) {
      longest[p] = s.end - s.start;
      frames[p] = s.call.frame;
    }
  }
  for (let p = 0; p < 512; p++)
    if (longest[p] > 0)
      heights[p] = Math.max(1, Math.min(255, Math.round((255 * covered[p]) / pixel)));
  w.put(frames);
  w.put(heights);
}

export function tiles(trace, res, from, to, lanes) {
  const w = new Writer();
  w.text('TVT1');
  w.u32(lanes.length * (to - from + 1));
  for (const [kind, row] of lanes)
    for (let n = from; n <= to; n++) writeTile(w, trace, kind, row, res, n);
  return w.end();
}

export function flame(trace, q) {
  const root = { frame: -1, kids: new Map(), total: 0, self: 0, calls: 0 };
  for (const c of timed(trace, q).values()) {
    const chain = [];
    for (let up = c.call; up; up = up.parent) chain.push(up.frame);
    if (!q.inverted) chain.reverse();
    const own = q.clock === 'cpu' ? c.exclCpu : c.exclReal;
    root.total += own;
    let node = root;
    for (const frame of chain) {
      if (!node.kids.has(frame))
        node.kids.set(frame, { frame, kids: new Map(), total: 0, self: 0, calls: 0 });
      node = node.kids.get(frame);
      node.total += own;
    }
    node.self += own;
    node.calls++;
  }
  return writeFlame(trace, root, q);
}

function writeFlame(trace, root, q) {
  const name = (n) => trace.frames[n.frame].slice(0, 2).join('.');
  const order = (list) =>
    q.order === 'by-name'
      ? list.sort((a, b) => (name(a) < name(b) ? -1 : 1))
      : list.sort((a, b) => b.total - a.total);
  let path = 0;
  const number = (n) => {
    for (const kid of order([...n.kids.values()])) {
      kid.path = path++;
      number(kid);
    }
  };
  number(root);
  let top = root;
  const find = (n) => {
    for (const kid of n.kids.values()) {
      if (kid.path === q.root) top = { ...kid, kids: new Map([[kid.frame, kid]]) };
      find(kid);
    }
  };
  if (q.root !== undefined) find(root);
  const out = [];
  let left = 0;
  const lay = (n, start, depth) => {
    let at = start;
    for (const kid of order([...n.kids.values()])) {
      if (kid.total < (q.min ?? 0) * top.total) left += kid.total;
      else {
        out.push({ ...kid, start: at, depth });
        lay(kid, at, depth + 1);
      }
      at += kid.total;
    }
  };
  lay(top, 0, 0);
  const w = new Writer();
  w.text('TVF1');
  w.u32(out.length);
  w.f64(top.total, left);
  w.f64(...out.map((n) => n.start));
  w.f64(...out.map((n) => n.total));
  w.f64(...out.map((n) => n.self));
  for (const key of ['depth', 'frame', 'path', 'calls']) w.u32s(out.map((n) => n[key]));
  return w.end();
}

export function activity(trace, buckets) {
  const w = new Writer();
  w.text('TVA1');
  w.u32(trace.tracks.length, buckets, 0);
  w.f64(0, trace.length);
  for (const track of trace.tracks) {
    const size = trace.length / buckets;
    const covered = new Float64Array(buckets);
    for (const c of track.rows[track.track === 0 ? 3 : 0]) {
      for (let b = Math.floor(c.start / size); b < buckets && b * size < c.end; b++)
        covered[b] += Math.min(c.end, (b + 1) * size) - Math.max(c.start, b * size);
    }
    w.u32(track.track);
    w.put(Uint8Array.from(covered, (t) => Math.min(255, Math.round((255 * t) / size))));
    w.align(4);
  }
  return w.end();
}

export function facts(trace) {
  const whole = profile(trace);
  return {
    protocol: 1,
    name: 'made-up.trace',
    format: 'Android method trace',
    version: '3',
    clocks: ['real', 'cpu'],
    axis: 'real',
    start_ns: 0,
    end_ns: trace.length,
    recorded: '2026-11-20T10:11:12Z',
    records: trace.tracks.reduce((n, t) => n + 2 * t.calls.length, 0),
    calls: trace.tracks.reduce((n, t) => n + t.calls.length, 0),
    max_depth: Math.max(...trace.tracks.map((t) => t.rows.length)),
    overflow: false,
    sampled: null,
    metadata: [
      ['data-file-overflow', 'false'],
      ['clock', 'dual'],
      ['elapsed-time-usec', String(trace.length / 1000)],
      ['vm', 'art'],
      ['pid', '2714'],
    ],
    files: ['made-up.trace'],
    order: 'busiest',
    colours: 'rank',
    unit: null,
    processes: [{ id: 2714, name: 'com.acme.shop' }],
    tracks: trace.tracks.map((t) => {
      const own = profile(trace, { tracks: [t.track] });
      return {
        track: t.track,
        kind: 'thread',
        thread_id: t.thread_id,
        thread: t.track,
        name: t.name,
        process: 0,
        first_row: t.first_row,
        rows: t.rows.length,
        calls: t.calls.length,
        start_ns: t.calls[0].start,
        end_ns: trace.length,
        real_ns: own.total_real_ns,
        cpu_ns: own.total_cpu_ns,
        waits: t.waits.length,
      };
    }),
    counters: 0,
    instants: 0,
    flows: 0,
    objects: 0,
    samples: 0,
    memory_dumps: 0,
    display_frames: 0,
    facts: [],
    idle_threads: [{ thread_id: 7, name: 'Signal Catcher' }],
    diagnostics: [
      {
        kind: 'open-at-end',
        text: 'calls still open when the trace ended',
        severity: 'note',
        count: 1,
        offsets: [104096],
      },
    ],
    frames: whole.rows.length,
  };
}
