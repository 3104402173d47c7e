// SPDX-License-Identifier: Apache-2.0
// Tables as text for other programs, and what of a tree is open as text for the address.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { MOST_OPEN, readOpen, writeOpen } from '../src/model/openLines';
import {
  sheetExcerpt,
  sheetChunks,
  sheetText,
  type Sheet,
  type SheetValue,
} from '../src/model/sheet';

function sheet(lines: readonly (readonly [string, number | null])[]): Sheet {
  const at = (line: number): readonly [string, SheetValue] => lines[line] ?? ['', null];
  return {
    heads: [
      { text: 'Name', number: false },
      { text: 'Time ms', number: true },
    ],
    keys: ['name', 'time_ns'],
    count: lines.length,
    shown: (line) => [at(line)[0], Number(at(line)[1]).toLocaleString('en')],
    exact: at,
  };
}

test('a name that a spreadsheet would evaluate is text there and unchanged elsewhere', () => {
  for (const name of ['=1+2', '+1', '-[NSString init]', '@x', '\tx', '\rx']) {
    const one = sheet([[name, -5]]);
    const csv = sheetText(one, 'csv').split('\r\n')[1] ?? '';
    assert(csv.replace(/^"/, '').startsWith(`'${name[0]}`), csv);
    assert(csv.endsWith(',-5'), 'numbers are numbers');
    assert.deepEqual(JSON.parse(sheetText(one, 'json')), [{ name, time_ns: -5 }]);
  }
  assert.match(sheetText(sheet([['=x', 1]]), 'tsv'), /\n'=x\t1\n$/);
  assert.match(sheetText(sheet([['=x', 1]]), 'markdown'), /\n\| `=x` \| 1 \|\n$/);
});

test('a separator inside a cell does not end it', () => {
  const odd = sheet([['a"b,c|d`e\nf\tg', 1234567]]);
  assert.equal(sheetText(odd, 'csv'), 'name,time_ns\r\n"a""b,c|d`e\nf\tg",1234567\r\n');
  assert.equal(sheetText(odd, 'tsv'), 'Name\tTime ms\na"b,c|d`e f g\t1234567\n');
  assert.equal(
    sheetText(odd, 'markdown'),
    '| Name | Time ms |\n| --- | ---: |\n| `a"b,c\\|d\'e f g` | 1,234,567 |\n',
  );
});

test('an empty table has only its head, and missing values are empty', () => {
  assert.equal(sheetText(sheet([]), 'csv'), 'name,time_ns\r\n');
  assert.deepEqual(JSON.parse(sheetText(sheet([]), 'json')), []);
  assert.equal(sheetText(sheet([['a', null]]), 'csv'), 'name,time_ns\r\na,\r\n');
});

test('a long table comes in pieces that join to one text, or as some of its lines', () => {
  const long = sheet(Array.from({ length: 25000 }, (_, i) => [`n${i}`, i] as const));
  const pieces = [...sheetChunks(long, 'json')];
  assert(pieces.length > 3);
  assert.equal((JSON.parse(pieces.join('')) as unknown[]).length, 25000);
  const part = JSON.parse(sheetText(sheetExcerpt(long, 24998, 2), 'json')) as { name: string }[];
  assert.deepEqual(
    part.map((row) => row.name),
    ['n24998', 'n24999'],
  );
});

test('levels are a column of TSV and an indent of Markdown', () => {
  const tree = {
    ...sheet([
      ['a', 1],
      ['b', 2],
    ]),
    level: (line: number) => line,
  };
  assert.equal(sheetText(tree, 'tsv'), 'Level\tName\tTime ms\n0\ta\t1\n1\tb\t2\n');
  assert.match(sheetText(tree, 'markdown'), /\n\| &emsp;`b` \| 2 \|\n$/);
});

test('open lines are written as a short text and read back', () => {
  const text = '5k(7*,9(2)),a';
  const lines = readOpen(text);
  assert.deepEqual(
    lines.map((line) => line.frame),
    [200, 10],
  );
  assert.equal(lines[0]?.under[0]?.all, true);
  assert.deepEqual(
    lines[0]?.under[1]?.under.map((line) => line.frame),
    [2],
  );
  assert.equal(writeOpen(lines), text);
  assert.equal(writeOpen(readOpen('')), '');
});

test('an invalid text opens what it can and ends', () => {
  assert.equal(writeOpen(readOpen('))((*,1(2')), '1(2)');
  assert.equal(writeOpen(readOpen('zzzzzzzzzzzz,1')), '1');
  const deep = '1('.repeat(5000);
  assert.equal(writeOpen(readOpen(deep)).match(/1/g)?.length, MOST_OPEN);
});
