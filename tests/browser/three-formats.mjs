// SPDX-License-Identifier: Apache-2.0
// One program's life as a method trace, as Trace Event JSON and as ftrace text: main draws a frame
// each millisecond, raster works a little after each.

/** Name, thread, start and end in microseconds, callers before what they call. */
function calls() {
  const all = [];
  for (let k = 0; k < 20; k++) {
    const at = 100 + k * 1000;
    all.push(['frame', 100, at, at + 900]);
    all.push(['layout', 100, at + 100, at + 400]);
    all.push(['draw', 100, at + 500, at + 800]);
    all.push(['paint', 100, at + 550, at + 650]);
    all.push(['raster', 200, at + 850, at + 950]);
  }
  return all;
}

/** Begins and ends in the order of time; what ends at a time ends before anything begins there. */
function edges() {
  return calls()
    .flatMap(([name, tid, from, to]) => [
      { name, tid, at: from, begins: true },
      { name, tid, at: to, begins: false },
    ])
    .sort((a, b) => a.at - b.at || Number(a.begins) - Number(b.begins));
}

/** Version 3 with both clocks; the CPU clock of a thread runs like the one on the wall. */
export function methodTrace() {
  const names = [...new Set(calls().map(([name]) => name))];
  const all = edges();
  const key = [
    ...['*version', '3', 'data-file-overflow=false', 'clock=dual', 'elapsed-time-usec=21000'],
    ...[`num-method-calls=${all.length}`, 'clock-call-overhead-nsec=100', 'vm=art', 'pid=100'],
    ...['*threads', '100\tmain', '200\traster', '*methods'],
    ...names.map(
      (name, i) => `0x${(16 * (i + 1)).toString(16)}\tapp.Main\t${name}\t()V\tMain.java`,
    ),
    ...['*end', ''],
  ].join('\n');
  const data = Buffer.alloc(32 + 14 * all.length);
  data.write('SLOW', 0, 'latin1');
  data.writeUInt16LE(3, 4);
  data.writeUInt16LE(32, 6);
  data.writeUInt16LE(14, 16);
  all.forEach(({ name, tid, at, begins }, i) => {
    const place = 32 + 14 * i;
    data.writeUInt16LE(tid, place);
    data.writeUInt32LE(16 * (names.indexOf(name) + 1) + (begins ? 0 : 1), place + 2);
    data.writeUInt32LE(at, place + 6);
    data.writeUInt32LE(at, place + 10);
  });
  return Buffer.concat([Buffer.from(key), data]);
}

/** With a flow from each draw to the work of raster after it, an instant and a counter. */
export function eventTrace() {
  const events = [
    { ph: 'M', name: 'process_name', pid: 1, args: { name: 'app' } },
    { ph: 'M', name: 'thread_name', pid: 1, tid: 100, args: { name: 'main' } },
    { ph: 'M', name: 'thread_name', pid: 1, tid: 200, args: { name: 'raster' } },
    { ph: 'i', s: 't', name: 'input', pid: 1, tid: 100, ts: 10_350 },
  ];
  calls().forEach(([name, tid, from, to], i) => {
    const place = { pid: 1, tid, cat: 'work' };
    events.push({ ph: 'X', name, ts: from, dur: to - from, args: { number: i }, ...place });
    const flow = { name: 'to raster', id: Math.floor(i / 5), ...place };
    if (name === 'draw') events.push({ ph: 's', ts: from + 10, ...flow });
    if (name === 'raster') events.push({ ph: 'f', bp: 'e', ts: from + 10, ...flow });
    if (name === 'frame')
      events.push({ ph: 'C', name: 'memory', pid: 1, ts: from, args: { used: (i / 5) % 7 } });
  });
  return Buffer.from(JSON.stringify(events));
}

/** The marks of both threads, and what ran on two processors. */
export function ftraceText() {
  const task = { 100: 'main', 200: 'raster' };
  const time = (us) => `1.${String(us).padStart(6, '0')}`;
  const lines = edges().map(
    ({ name, tid, at, begins }) =>
      `${task[tid]}-${tid} ( 100) [00${tid / 100 - 1}] ...1 ${time(at)}: tracing_mark_write: ` +
      (begins ? `B|100|${name}` : 'E|100'),
  );
  const idle = 'prev_comm=swapper prev_pid=0 prev_prio=120 prev_state=R';
  const first = `<idle>-0 (-----) [000] d..3 ${time(50)}: sched_switch: ${idle} ==> next_comm=main next_pid=100 next_prio=120`;
  return Buffer.from(`# tracer: nop\n#\n${first}\n${lines.join('\n')}\n`);
}

export const FORMATS = {
  '.trace': ['life.trace', methodTrace],
  JSON: ['life.json', eventTrace],
  ftrace: ['life.txt', ftraceText],
};
