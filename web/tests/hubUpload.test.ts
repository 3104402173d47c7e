// SPDX-License-Identifier: Apache-2.0
// Uploads that are interrupted, refused, cancelled, and continued by another page.

import { strict as assert } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fingerprint, Memory, type UploadMemory, type Known } from '../src/hub/fingerprint';
import { HubError, noAnswer } from '../src/hub/http';
import {
  CHUNK,
  whyNotUploadable,
  Upload,
  type Standing,
  type Wire,
  type World,
} from '../src/hub/upload';
import { Uploads } from '../src/hub/uploads';

const TRACE = 'ab'.repeat(16);

function box(): UploadMemory {
  let text: string | null = null;
  return {
    get: () => text,
    set: (next) => {
      text = next;
    },
  };
}

function file(size: number, name = 'app.trace', fill = 1, lastModified = 5): Known {
  const blob = new Blob([new Uint8Array(size).fill(fill)]);
  return { name, size, lastModified, slice: (from, to) => blob.slice(from, to) };
}

/** A server that keeps what it gets; `troubles` are what the next questions come to instead. */
class FakeServer implements Wire {
  readonly there = new Map<string, { size: number; bytes: number }>();
  readonly asked: string[] = [];
  troubles: (Error | null)[] = [];
  traces = new Set<string>();
  /** Every answer names the trace that it will be. */
  promises = false;
  /** So much of the next piece arrives before its trouble. */
  arrives = 0;

  private note(words: string): void {
    this.asked.push(words);
    const trouble = this.troubles.shift();
    if (trouble) throw trouble;
  }

  private standing(uid: string): Standing {
    const one = this.there.get(uid);
    if (!one) throw new HubError('There is no such upload.', 404);
    const whole = one.bytes === one.size;
    if (whole) {
      this.there.delete(uid);
      this.traces.add(TRACE);
    }
    return { uid, offset: one.bytes, trace: whole || this.promises ? TRACE : null };
  }

  async create(_: string, size: number): Promise<Standing> {
    this.note('create');
    const uid = `u${this.asked.length}`;
    this.there.set(uid, { size, bytes: 0 });
    return Promise.resolve(this.standing(uid));
  }

  async look(uid: string): Promise<Standing> {
    this.note(`look ${uid}`);
    return Promise.resolve(this.standing(uid));
  }

  async send(
    uid: string,
    offset: number,
    piece: ArrayBuffer,
    told: (bytes: number) => void,
    signal: AbortSignal,
  ): Promise<Standing> {
    await Promise.resolve();
    if (signal.aborted) throw new DOMException('', 'AbortError');
    const one = this.there.get(uid);
    if (!one) throw new HubError('There is no such upload.', 404);
    if (one.bytes !== offset) throw new HubError('The offset is another.', 409);
    one.bytes += this.arrives;
    this.note(`send ${offset}+${piece.byteLength}`);
    one.bytes = offset + piece.byteLength;
    told(piece.byteLength);
    return this.standing(uid);
  }

  async drop(uid: string): Promise<void> {
    this.note(`drop ${uid}`);
    this.there.delete(uid);
    return Promise.resolve();
  }

  async known(trace: string): Promise<boolean> {
    this.note('known');
    return Promise.resolve(this.traces.has(trace));
  }
}

interface Fake extends World {
  wire: FakeServer;
  waits: number[];
}

function world(): Fake {
  const waits: number[] = [];
  let time = 0;
  return {
    wire: new FakeServer(),
    memory: new Memory(box()),
    waits,
    now: () => (time += 1000),
    wait: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
  };
}

describe('an upload', () => {
  test('a file is sent in pieces, and its last answer names the trace', async () => {
    const w = world();
    const upload = new Upload(file(2 * CHUNK + 7), w);
    await upload.run();
    assert.deepEqual(w.wire.asked, [
      'create',
      `send 0+${CHUNK}`,
      `send ${CHUNK}+${CHUNK}`,
      `send ${2 * CHUNK}+7`,
    ]);
    assert.equal(upload.phase.peek(), 'done');
    assert.equal(upload.trace.peek(), TRACE);
    assert.equal(upload.sent.peek(), 2 * CHUNK + 7);
    assert.deepEqual(w.memory.left(1e9), []);
  });

  test('after an interruption the upload asks for the offset and continues there', async () => {
    const w = world();
    w.wire.troubles = [null, null, noAnswer(), noAnswer()];
    w.wire.arrives = 3;
    const upload = new Upload(file(CHUNK + 10), w);
    await upload.run();
    assert.deepEqual(w.wire.asked, [
      'create',
      `send 0+${CHUNK}`,
      `send ${CHUNK}+10`,
      'look u1',
      'look u1',
      `send ${CHUNK + 3}+7`,
    ]);
    assert.deepEqual(w.waits, [1000, 2000]);
    assert.equal(upload.phase.peek(), 'done');
  });

  test('retries wait longer and longer, at least as long as the server asks, and stop at last', async () => {
    const w = world();
    w.wire.troubles = [
      new HubError('Busy.', 503, 3),
      ...Array.from({ length: 20 }, () => new HubError('Busy.', 503)),
    ];
    const upload = new Upload(file(10), w);
    await upload.run();
    assert.deepEqual(w.waits, [3000, 2000, 4000, 8000, 15000, 15000, 15000, 15000]);
    assert.equal(upload.phase.peek(), 'stopped');
    assert.equal(upload.resumable.peek(), true);
    w.wire.troubles = [];
    await upload.run();
    assert.equal(upload.phase.peek(), 'done');
  });

  test('a full disk stops the upload at once, keeps the sent bytes, and can be resumed', async () => {
    const w = world();
    w.wire.troubles = [null, null, new HubError('The disk is full.', 507)];
    const upload = new Upload(file(CHUNK + 10), w);
    await upload.run();
    assert.equal(upload.phase.peek(), 'stopped');
    assert.equal(upload.sent.peek(), CHUNK);
    assert.match(upload.message.peek(), /^The disk is full\. 8\.4 MB are there and stay\./);
    assert.deepEqual(w.waits, []);
    await upload.run();
    assert.equal(upload.phase.peek(), 'done');
    assert.equal(w.wire.asked.filter((words) => words === 'create').length, 1);
  });

  test('a file that is too large is not sent again', async () => {
    const w = world();
    w.wire.troubles = [new HubError('It is too large.', 413)];
    const upload = new Upload(file(10), w);
    await upload.run();
    assert.equal(upload.resumable.peek(), false);
    assert.equal(upload.message.peek(), 'It is too large.');
  });

  test('another page continues with the same file, and not with another one', async () => {
    const w = world();
    w.wire.troubles = [null, null, new HubError('The disk is full.', 507)];
    await new Upload(file(CHUNK + 10), w).run();
    const uid = w.memory.left(1e9)[0]?.[1].uid ?? '';
    const other = new Upload(file(CHUNK + 10, 'app.trace', 2), w);
    await other.run();
    assert.equal(w.wire.asked.includes(`look ${uid}`), false);
    w.wire.asked.length = 0;
    const same = new Upload(file(CHUNK + 10), w);
    await same.run();
    assert.deepEqual(w.wire.asked, [`look ${uid}`, `send ${CHUNK}+10`]);
  });

  test('an upload that the server forgot starts anew', async () => {
    const w = world();
    w.wire.troubles = [null, null, new HubError('The disk is full.', 507)];
    const upload = new Upload(file(CHUNK + 10), w);
    await upload.run();
    w.wire.there.clear();
    await upload.run();
    assert.equal(upload.phase.peek(), 'done');
    assert.equal(w.wire.asked.filter((words) => words === 'create').length, 2);
  });

  test('a file is not sent twice when only the last answer was lost', async () => {
    const w = world();
    w.wire.promises = true;
    const upload = new Upload(file(10), w);
    const send = w.wire.send.bind(w.wire);
    w.wire.send = async (...all): Promise<Standing> => {
      await send(...all);
      throw noAnswer();
    };
    await upload.run();
    assert.equal(upload.phase.peek(), 'done');
    assert.equal(upload.trace.peek(), TRACE);
    assert.deepEqual(w.wire.asked, ['create', 'send 0+10', 'look u1', 'known']);
  });

  test('a file that becomes unreadable stops its upload', async () => {
    const w = world();
    const gone = { ...file(10), slice: (): Blob => new Blob() };
    const broken = new Blob();
    broken.arrayBuffer = (): Promise<ArrayBuffer> => Promise.reject(new Error('NotReadable'));
    gone.slice = (): Blob => broken;
    const upload = new Upload(gone, w);
    await upload.run();
    assert.equal(upload.phase.peek(), 'stopped');
    assert.match(upload.message.peek(), /Choose it again/);
  });

  test('cancelling deletes the upload on the server and in the list', async () => {
    const w = world();
    const upload = new Upload(file(2 * CHUNK), w);
    const send = w.wire.send.bind(w.wire);
    w.wire.send = async (...all): Promise<Standing> => {
      const standing = await send(...all);
      await upload.cancel();
      return standing;
    };
    await upload.run();
    assert.equal(upload.phase.peek(), 'cancelled');
    assert.deepEqual(w.wire.asked, ['create', `send 0+${CHUNK}`, 'drop u1']);
    assert.deepEqual(w.memory.left(1e9), []);
  });

  test('a server that accepts nothing is not asked for ever', async () => {
    const w = world();
    w.wire.send = (uid, offset): Promise<Standing> => Promise.resolve({ uid, offset, trace: null });
    const upload = new Upload(file(10), w);
    await upload.run();
    assert.equal(upload.phase.peek(), 'stopped');
    assert.equal(w.waits.length, 8);
  });
});

describe('several uploads', () => {
  const settle = (): Promise<void> => new Promise((done) => setTimeout(done, 20));

  test('two uploads run at a time, and refused files are reported', async () => {
    const w = world();
    let most = 0;
    let now = 0;
    const send = w.wire.send.bind(w.wire);
    w.wire.send = async (...all): Promise<Standing> => {
      most = Math.max(most, ++now);
      await settle();
      now--;
      return await send(...all);
    };
    const ended: string[] = [];
    const uploads = new Uploads(w, ({ file }) => ended.push(file.name));
    const files = ['a', 'b', 'c', 'd'].map((name, i) => file(10 + i, name));
    uploads.add({ files: [...files, file(0, 'none'), file(99, 'large')], folders: ['f'] }, 50);
    assert.deepEqual(
      uploads.refused.peek().map(({ name }) => name),
      ['f', 'none', 'large'],
    );
    while (uploads.active() > 0) await settle();
    await settle();
    assert.equal(most, 2);
    assert.deepEqual(ended.sort(), ['a', 'b', 'c', 'd']);
  });

  test('the same file twice is one upload', () => {
    const w = world();
    const uploads = new Uploads(w, () => undefined);
    uploads.add({ files: [file(10)], folders: [] }, null);
    uploads.add({ files: [file(10)], folders: [] }, null);
    assert.equal(uploads.all.peek().length, 1);
    assert.equal(uploads.all.peek()[0]?.alone, true);
  });

  test('unfinished uploads are listed as long as the server knows them', async () => {
    const w = world();
    w.memory.keep('k1', { uid: 'u1', name: 'a', size: 10, trace: null, at: 0 });
    w.memory.keep('k2', { uid: 'u2', name: 'b', size: 10, trace: null, at: 0 });
    w.memory.keep('busy', { uid: 'u3', name: 'c', size: 10, trace: null, at: 999_000 });
    w.wire.there.set('u2', { size: 10, bytes: 4 });
    const uploads = new Uploads({ ...w, now: () => 1_000_000 }, () => undefined);
    await uploads.findLeft();
    assert.deepEqual(
      uploads.left.peek().map(([key]) => key),
      ['k2'],
    );
    assert.equal(w.memory.find('k1'), null);
    assert.equal(w.memory.find('busy')?.uid, 'u3');
    await uploads.dropLeft('k2');
    assert.equal(w.wire.there.has('u2'), false);
    assert.deepEqual(uploads.left.peek(), []);
  });

  test('an empty or too large file is never started', () => {
    assert.equal(whyNotUploadable({ name: 'x', size: 5 }, null), null);
    assert.match(whyNotUploadable({ name: 'x', size: 0 }, null) ?? '', /empty/);
    assert.match(whyNotUploadable({ name: 'x', size: 2e9 }, 1e9) ?? '', /1\.00 GB/);
  });
});

describe('what a file is known by', () => {
  test('a fingerprint has name, size, time and some of the content', async () => {
    const one = await fingerprint(file(100_000));
    assert.equal(await fingerprint(file(100_000)), one);
    const others = [
      file(100_001),
      file(100_000, 'b.trace'),
      file(100_000, 'app.trace', 2),
      file(100_000, 'app.trace', 1, 6),
    ];
    for (const other of others) assert.equal((await fingerprint(other)) === one, false);
  });

  test('other entries of the storage are ignored', () => {
    for (const text of [
      '',
      '{',
      '[]',
      'null',
      '7',
      '{"k":{"uid":"../x","name":"n","size":1,"at":0}}',
    ]) {
      const memory = new Memory({ get: () => text, set: () => undefined });
      assert.equal(memory.find('k'), null);
      assert.deepEqual(memory.left(1e9), []);
    }
  });

  test('only the newest unfinished uploads are remembered, up to a limit', () => {
    const memory = new Memory(box());
    for (let i = 0; i < 60; i++)
      memory.keep(`k${i}`, { uid: 'u', name: 'n', size: 1, trace: null, at: i });
    assert.equal(memory.find('k9'), null);
    assert.equal(memory.find('k10')?.uid, 'u');
    assert.equal(memory.left(1e9).length, 50);
  });
});
