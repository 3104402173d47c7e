// SPDX-License-Identifier: Apache-2.0
// Names of methods as people read them and search for them.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { colourHash, eventColour, KERNEL, kindColour, METHOD_COLOURS } from '../src/model/colours';
import type { FrameRow } from '../src/model/engine';
import {
  comparedParts,
  Frames,
  finderOf,
  indexOfMatch,
  signatureMatch,
  substringMatcher,
  readableSignature,
  trackName,
} from '../src/model/names';
import { track } from './fixtures';

test('descriptors become readable types', () => {
  assert.equal(readableSignature('(Landroid/os/Bundle;I)V'), '(Bundle, int) void');
  assert.equal(
    readableSignature('([[J[Ljava/lang/String;Z)[B'),
    '(long[][], String[], boolean) byte[]',
  );
  assert.equal(readableSignature('()V'), '() void');
});

test('other names stay as they are', () => {
  for (const text of [
    '',
    'main',
    '(',
    '(I',
    '(Q)V',
    '(Ljava/lang/String)V',
    '()',
    '()VV',
    '(I)V extra',
  ]) {
    assert.equal(readableSignature(text), text);
  }
});

test('a frame has a package, a class and a method, or just a name', () => {
  const frames = new Frames([
    ['com/acme/Outer$Inner', '<init>', '()V', 'Outer.java', 12, 17],
    ['', 'parse', '', '', 0, 0],
  ]);
  assert.equal(frames.full(0), 'com.acme.Outer$Inner.<init>');
  assert.equal(frames.packagePrefix(0), 'com.acme.');
  assert.equal(frames.short(0), 'Outer$Inner.<init>');
  assert.equal(frames.source(0), 'Outer.java:12');
  assert.equal(frames.colour(0), 0, 'ranks 1 and 17 share a colour');
  assert.equal(frames.full(1), 'parse');
  assert.equal(frames.short(1), 'parse');
  assert.equal(frames.source(1), '');
});

test('a short name has neither package nor library, and the whole name of a hidden class', () => {
  const names = (className: string, method: string): [string, string] => {
    const frames = new Frames([[className, method, '', '', 0, 1]]);
    return [frames.packagePrefix(0), frames.short(0)];
  };
  assert.deepEqual(names('libc.so.6', 'clone3'), ['libc.so.6.', 'clone3']);
  assert.deepEqual(names('libjvm.so', 'Thread::call_run'), ['libjvm.so.', 'Thread::call_run']);
  assert.deepEqual(names('a.Busy$$Lambda/0x7f2c28', 'run'), ['a.', 'Busy$$Lambda.0x7f2c28.run']);
  assert.deepEqual(names('a.Busy$$Lambda$88+0x00007efc.1790421142', 'run'), [
    'a.',
    'Busy$$Lambda$88+0x00007efc.1790421142.run',
  ]);
  assert.deepEqual(names('a/so', 'f'), ['a.', 'so.f']);
});

test('case matters only when the query has a capital', () => {
  assert(substringMatcher('inflate')('LayoutInflater.inflate'));
  assert(substringMatcher('layoutinf')('LayoutInflater.inflate'));
  assert(!substringMatcher('Layoutinf')('LayoutInflater.inflate'));
  assert.equal(indexOfMatch('HashMap.get', 'map'), 4);
  assert.equal(indexOfMatch('HashMap.get', 'Get'), -1);
  assert.equal(indexOfMatch('HashMap.get', ''), -1);
});

test('search looks at the signature as shown and as written', () => {
  const text = new Frames([['a.B', 'c', '(Landroid/os/Bundle;)V', '', 0, 1]]).searchText(0);
  assert(substringMatcher('a.B.c (Bundle) void')(text));
  assert(substringMatcher('Landroid/os/Bundle;')(text));
});

test('names of Trace Event files have the colours of Trace Viewer', () => {
  // Numbers that the format's description gives.
  for (const [text, number] of [
    ['a', 9],
    ['b', 20],
    ['foo', 11],
    ['', 0],
    ['myFunction', 11],
  ] as const) {
    assert.equal(colourHash(text), number, text);
    const frames = new Frames([['', text, '', '', 0, 1]], 'name');
    assert.equal(frames.colour(0), 16 + number);
  }
  assert.equal(eventColour(0, 17), 17);
  assert.equal(eventColour(1, 17), 39, 'the first reserved colour');
  assert.equal(eventColour(35, 17), 17, 'there are 34');
  assert.equal(
    eventColour(64 + 11, 17),
    METHOD_COLOURS + colourHash('foo'),
    'that of another name',
  );
  assert.equal(eventColour(64 + 23, 17), 17, 'there are 23');
});

test('colours show the kinds of frames on request, if the trace has any', () => {
  let byKind = false;
  const kernel: FrameRow = ['', 'do_syscall_64', '', '', 0, 0, '', 0, '[kernel]', KERNEL];
  const unknown: FrameRow = ['', 'start', '', '', 0, 0];
  const call: FrameRow = ['', 'draw', '', '', 0, 3];
  const frames = new Frames([kernel, unknown, call], 'rank', () => byKind);
  assert.deepEqual(frames.kinds, [0, KERNEL]);
  assert.deepEqual(
    [0, 1, 2].map((frame) => frames.colour(frame)),
    [15, 15, 2],
  );
  byKind = true;
  assert.deepEqual(
    [0, 1, 2].map((frame) => frames.colour(frame)),
    [kindColour(KERNEL), kindColour(0), 2],
    'a call that is no sample keeps its colour',
  );
  const none = new Frames([unknown, call], 'rank', () => byKind);
  assert(!none.hasKinds);
  assert.deepEqual(
    [0, 1].map((frame) => none.colour(frame)),
    [15, 2],
  );
});

test('a kernel track shows its name once', () => {
  const name = 'functions cpu 1';
  assert.equal(trackName(track(0, { key: name, name })), name);
  assert.equal(trackName(track(0, { key: '0x7f', name })), `[0x7f] ${name}`);
});

test('the name of a transform tells overloads apart', () => {
  const frames = new Frames([
    ['com/app/Main', 'run', '()V', '', 0, 1],
    ['com/app/Main', 'run', '(I)V', '', 0, 2],
    ['com/app/Main', 'stop', '()V', '', 0, 3],
  ]);
  assert.deepEqual(
    [0, 1, 2].map((frame) => frames.exact(frame)),
    ['com/app/Main.run()V', 'com/app/Main.run(I)V', 'com/app/Main.stop'],
  );
  assert.deepEqual(
    [0, 1, 2].map((frame) => frames.distinction(frame)),
    ['() void', '(int) void', ''],
    'on the screen only overloads have a signature',
  );
});

test('frames of one name and no signature are told apart by source, library or category', () => {
  const frames = new Frames([
    ['', '(anonymous)', '', 'file:///src/tokenizer/index.js', 30, 1],
    ['', '(anonymous)', '', 'bootstrap_node.js', 10, 2],
    ['', 'operator new', '', '', 0, 3, '', 0, '/usr/lib/libmozglue.so'],
    ['', 'operator new', '', '', 0, 4, '', 0, '/usr/lib/libxul.so'],
    ['', 'RunTask', '', '', 0, 5, 'toplevel'],
    ['', 'RunTask', '', '', 0, 6, 'blink'],
    ['', 'main', '', 'busy.js', 1, 7],
  ]);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6].map((frame) => frames.distinction(frame)),
    [
      ...['tokenizer/index.js:30', 'bootstrap_node.js:10', 'libmozglue.so', 'libxul.so'],
      ...['toplevel', 'blink', ''],
    ],
  );
});

test('a name has its package or library', () => {
  const packages: [string, string, string | null][] = [
    ['com.app.Main', 'run', 'com.app'],
    ['Main', 'run', 'Main'],
    ['', 'com.app.Main.run', 'com.app'],
    ['', 'java/util/List.add', 'java/util'],
    ['', 'V8.GC', 'V8'],
    ['', 'github.com/user/pkg.Func', 'github.com/user/pkg'],
    ['', 'pkg.module.go', 'pkg.module'],
    ['', 'std::vector<a::b>::at(int)', 'std'],
    ['', 'alpha::beta::go', 'alpha::beta'],
    ['', 'main', null],
    ['', 'do frame. then', null],
    ['', '', null],
  ];
  for (const [className, method, name] of packages) {
    const frames = new Frames([[className, method, '', '', 0, 1]]);
    assert.equal(frames.packageOf(0)?.name ?? null, name, method);
  }
  const inLibrary = new Frames([['', 'std::go', '', '', 0, 1, '', 0, '/usr/lib/libc.so.6']]);
  assert.deepEqual(inLibrary.packageOf(0), { name: 'libc.so.6', library: true });
});

test('collapsed packages are frames after those of the trace', () => {
  const frames = new Frames([['', 'main', '', '', 0, 1]]);
  assert.equal(frames.has(1), false);
  frames.setPackages(['java', 'std']);
  assert.deepEqual(
    [1, 2].map((frame) => frames.full(frame)),
    ['java', 'std'],
  );
  assert.deepEqual(
    [0, 1, 2].map((frame) => frames.isPackage(frame)),
    [false, true, true],
  );
  assert.equal(frames.has(3), false);
  assert.deepEqual([...frames.nameOrder()], [1, 0, 2]);
  frames.setPackages(['std']);
  assert.equal(frames.full(1), 'std');
});

test('a match in the signature is found in the form that has it', () => {
  const frames = new Frames([['a/B', 'run', '(Landroid/os/Bundle;)V', '', 0, 1]]);
  const match = (query: string): ReturnType<typeof signatureMatch> =>
    signatureMatch(frames, 0, finderOf(query));
  assert.deepEqual(match('bundle'), { text: '(Bundle) void', at: 1, end: 7 });
  assert.deepEqual(match('android/os'), { text: '(Landroid/os/Bundle;)V', at: 2, end: 12 });
  assert.equal(match('a.B.run'), null);
  assert.equal(match('other'), null);
});

test('a compared name is split as in the profile if it ends in a JVM descriptor', () => {
  assert.deepEqual(comparedParts('com/acme/Cart.add (Lcom/acme/Item;I)V'), {
    ...{ package: 'com.acme.', own: 'Cart.add', signature: '(Item, int) void' },
  });
  assert.deepEqual(comparedParts('Main.run ()V'), {
    ...{ package: '', own: 'Main.run', signature: '() void' },
  });
  for (const whole of ['ns::f (int)', 'draw', '(total of all threads)'])
    assert.deepEqual(comparedParts(whole), { package: '', own: whole, signature: '' });
});
