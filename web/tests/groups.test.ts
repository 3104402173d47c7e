// SPDX-License-Identifier: Apache-2.0
// Tables of two levels: order, what is found, what is open, and the address.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  groupLines,
  groupsWith,
  readGroups,
  sortedGroups,
  usuallyOpen,
  writeGroups,
  type Group,
} from '../src/model/groups';

interface Item {
  name: string;
  n: number | null;
}
const item = (name: string, n: number | null): Item => ({ name, n });
const GROUPS: Group<Item>[] = [
  { id: 'one', head: item('one', 5), places: [item('b', 1), item('a', 3)] },
  { id: 'two', head: item('two', null), places: [item('c', 2)] },
  { id: 'six', head: item('six', 9), places: [] },
  { id: 'rest', head: item('rest', 99), places: [item('z', 0)], last: true },
];
const value = ({ name, n }: Item, column: string): string | number | null =>
  column === 'name' ? name : n;
const ids = (groups: readonly Group<Item>[]): string[] => groups.map(({ id }) => id);

test('groups and their places are sorted; groups without a value and "others" come last', () => {
  const down = sortedGroups(GROUPS, { column: 'n', descending: true }, value);
  assert.deepEqual(ids(down), ['six', 'one', 'two', 'rest']);
  assert.deepEqual(
    down[1]?.places.map(({ name }) => name),
    ['a', 'b'],
  );
  const up = sortedGroups(GROUPS, { column: 'n', descending: false }, value);
  assert.deepEqual(ids(up), ['one', 'six', 'two', 'rest']);
  assert.equal(sortedGroups(GROUPS, null, value), GROUPS);
});

test('a group whose head matches keeps its places, other groups only those that match', () => {
  const having = (text: string) => groupsWith(GROUPS, ({ name }) => name.includes(text));
  assert.deepEqual(ids(having('x')), ['six']);
  const places = (text: string): string[][] =>
    having(text).map((group) => group.places.map(({ name }) => name));
  assert.deepEqual(places('one'), [['b', 'a']]);
  assert.deepEqual(places('a'), [['a']]);
});

test('lines of opened groups follow their heads', () => {
  const lines = groupLines(GROUPS, ['two', 'six']);
  assert.deepEqual(
    lines.map(({ item: { name }, level, isOpen }) => [name, level, isOpen]),
    [
      ['one', 0, false],
      ['two', 0, true],
      ['c', 1, null],
      ['six', 0, null],
      ['rest', 0, false],
    ],
  );
});

test('at first as many groups are open as fit the screen, and at least one', () => {
  assert.deepEqual(usuallyOpen(GROUPS), ['one', 'two', 'rest']);
  const many = Array.from({ length: 30 }, (_, i) => item(String(i), i));
  const long = { id: 'long', head: item('long', 0), places: many };
  assert.deepEqual(usuallyOpen([long, ...GROUPS]), ['long']);
});

test('order and open groups are in the address, and an invalid address is ignored', () => {
  for (const state of [
    { sort: null, open: null },
    { sort: null, open: [] },
    { sort: { column: 'start', descending: false }, open: null },
    { sort: { column: 'n', descending: true }, open: ['one', 'two-3'] },
  ])
    assert.deepEqual(readGroups(writeGroups(state)), state);
  assert.equal(writeGroups({ sort: null, open: null }), null);
  assert.deepEqual(readGroups('A B,.down,<x>'), { sort: null, open: null });
});
