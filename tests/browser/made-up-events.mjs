// SPDX-License-Identifier: Apache-2.0
// A made-up trace of a server: requests that go from thread to thread, counters, instants.

/** The same numbers each time: a linear congruential generator. */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state % below;
  };
}

const STEPS = ['parse', 'authorise', 'look up', 'render', 'compress'];

/** As an array of events of the Trace Event Format. */
export function requests() {
  const next = numbers(7);
  const events = [
    { ph: 'M', name: 'process_name', pid: 1, args: { name: 'server' } },
    { ph: 'M', name: 'process_name', pid: 2, args: { name: 'database' } },
    { ph: 'M', name: 'thread_name', pid: 1, tid: 10, args: { name: 'listener' } },
    { ph: 'M', name: 'thread_name', pid: 2, tid: 20, args: { name: 'queries' } },
  ];
  for (let worker = 1; worker <= 3; worker++)
    events.push({
      ...{ ph: 'M', name: 'thread_name', pid: 1, tid: 10 + worker },
      args: { name: `worker ${worker}` },
    });
  const free = [0, 0, 0];
  let memory = 30;
  for (let request = 0, ts = 0; request < 60; request++) {
    ts += 300 + next(900);
    const worker = free.indexOf(Math.min(...free));
    const at = Math.max(ts + 120, free[worker]);
    const id = request + 1;
    const url = `/shop/item?id=${next(900)}`;
    const tid = 11 + worker;
    events.push({
      ph: 'X',
      name: 'accept',
      cat: 'net',
      pid: 1,
      tid: 10,
      ts,
      dur: 90,
      args: { url },
    });
    events.push({ ph: 's', name: 'request', cat: 'flow', id, pid: 1, tid: 10, ts: ts + 40 });
    events.push({
      ph: 'b',
      name: 'request',
      cat: 'request',
      id,
      pid: 1,
      tid: 10,
      ts,
      args: { url },
    });
    let end = at + 60;
    for (const name of STEPS) {
      const dur = 150 + next(name === 'look up' ? 2400 : 500);
      events.push({ ph: 'X', name, cat: 'work', pid: 1, tid, ts: end, dur });
      if (name === 'look up') {
        const query = { cat: 'sql', pid: 2, tid: 20, ts: end + 40 };
        if (next(3) === 0) events.push({ ph: 'X', name: 'SELECT', dur: dur / 3, ...query });
      }
      end += dur + next(40);
    }
    end += 30;
    events.push({
      ph: 'X',
      name: 'handle',
      cat: 'work',
      pid: 1,
      tid,
      ts: at,
      dur: end - at,
      args: { url },
    });
    events.push({ ph: 'f', bp: 'e', name: 'request', cat: 'flow', id, pid: 1, tid, ts: at + 20 });
    events.push({ ph: 'e', name: 'request', cat: 'request', id, pid: 1, tid: 10, ts: end });
    memory = next(9) === 0 ? 28 : memory + next(6);
    if (memory === 28)
      events.push({ ph: 'i', s: 'p', name: 'collect garbage', pid: 1, tid: 10, ts: end });
    events.push({
      ...{ ph: 'C', name: 'memory', pid: 1, ts: end },
      args: { used: memory, cache: 12 + next(4) },
    });
    free[worker] = end;
  }
  return events;
}
