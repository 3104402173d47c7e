// SPDX-License-Identifier: Apache-2.0
// The upload server's page: addresses, the query of its list, rates, times and words.

import { strict as assert } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hubErrorOf } from '../src/hub/http';
import {
  dayStart,
  isFiltered,
  parseListQuery,
  serverQuery,
  querySortedBy,
  WHOLE_LIST,
  formatListQuery,
} from '../src/hub/listQuery';
import { Rate, timeLeft } from '../src/hub/rate';
import { curlLine, lastPathPart, readPath, traceOfAddress } from '../src/hub/route';
import { agoText, retentionText, whenText } from '../src/hub/when';
import { cleanLabel, countWords, offsetWords, progressPercent, stateWords } from '../src/hub/facts';
import type { TraceLine } from '../src/hub/api';

const ID = '0123456789abcdef0123456789abcdef';

describe('addresses of the hub', () => {
  test('an address is the list or a trace, at the root or in a folder', () => {
    assert.deepEqual(readPath('/'), { base: '/', trace: null });
    assert.deepEqual(readPath('/traces/'), { base: '/traces/', trace: null });
    assert.deepEqual(readPath(`/t/${ID}/`), { base: '/', trace: ID });
    assert.deepEqual(readPath(`/a/b/t/${ID}`), { base: '/a/b/', trace: ID });
    assert.equal(readPath('/t/short/').trace, null);
    assert.equal(readPath(`/t/${ID.toUpperCase()}/`).trace, null);
  });

  test('addresses of the server are relative to the folder it is mounted in', () => {
    assert.equal(traceOfAddress(`/t/${ID}/`), ID);
    assert.equal(traceOfAddress(`http:${'//'}inner:8192/t/${ID}/`), ID);
    assert.equal(traceOfAddress(null), null);
    assert.equal(traceOfAddress('/t/none/'), null);
    assert.equal(traceOfAddress(`/t/${ID}/view/`), null);
    assert.equal(lastPathPart('/api/uploads/u-17_x'), 'u-17_x');
    assert.equal(lastPathPart(null), null);
  });

  test('the command shows how to log in', () => {
    assert.equal(curlLine('O', '/', null), 'curl -T app.trace O/');
    assert.equal(curlLine('O', '/x/', 'basic'), 'curl -T app.trace -u NAME O/x/');
    assert.equal(
      curlLine('O', '/', 'token'),
      "curl -T app.trace -H 'Authorization: Bearer TOKEN' O/",
    );
  });
});

describe('the query of the list', () => {
  test('the state can be read back from the address', () => {
    const query = {
      ...{
        q: 'a&b =ü',
        label: 'v2',
        process: 'com.acme',
        since: '2026-01-31',
        until: '2026-02-01',
      },
      ...{ sort: 'bytes' as const, down: false },
    };
    assert.deepEqual(parseListQuery(formatListQuery(query)), query);
    assert.equal(formatListQuery(WHOLE_LIST), '');
    assert.deepEqual(parseListQuery(''), WHOLE_LIST);
  });

  test('unknown days and columns are left out', () => {
    const query = parseListQuery('?since=yesterday&until=2026-1-1&sort=secret&order=down');
    assert.deepEqual(query, { ...WHOLE_LIST, down: false });
  });

  test('names begin with A, numbers with the largest; a second click reverses', () => {
    const byName = querySortedBy(WHOLE_LIST, 'name');
    assert.deepEqual([byName.sort, byName.down], ['name', false]);
    assert.equal(querySortedBy(byName, 'name').down, true);
    assert.equal(querySortedBy(byName, 'length').down, true);
    assert.equal(parseListQuery('?sort=name').down, false);
  });

  test('days are those of the local calendar, and the last day is included', () => {
    const since = new Date(dayStart('2026-11-21') ?? '');
    assert.deepEqual([since.getDate(), since.getHours(), since.getMinutes()], [21, 0, 0]);
    const until = new Date(dayStart('2026-12-31', 1) ?? '');
    assert.deepEqual([until.getFullYear(), until.getMonth(), until.getDate()], [2027, 0, 1]);
    assert.equal(dayStart(''), null);
    const asked = new URLSearchParams(
      serverQuery({ ...WHOLE_LIST, since: '2026-11-21', until: '2026-11-21' }, 50, null),
    );
    const span = Date.parse(asked.get('until') ?? '') - Date.parse(asked.get('since') ?? '');
    assert.equal(span, 24 * 3600 * 1000);
    assert.match(asked.get('since') ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  test('blanks alone are not a search text', () => {
    assert.equal(isFiltered({ ...WHOLE_LIST, q: '  ' }), false);
    assert.equal(isFiltered({ ...WHOLE_LIST, label: 'x' }), true);
    assert.equal(
      serverQuery({ ...WHOLE_LIST, q: '  ', label: ' x ' }, 20, 'c 1'),
      'label=x&sort=uploaded&order=desc&limit=20&after=c+1',
    );
  });
});

describe('rates', () => {
  test('rates are those of the last five seconds', () => {
    const rate = new Rate();
    rate.add(0, 0);
    assert.equal(rate.perSecond(), null);
    rate.add(1000, 1000);
    assert.equal(rate.perSecond(), 1000);
    for (let s = 2; s <= 20; s++) rate.add(s * 1000, 1000 + (s - 1) * 500);
    assert.equal(rate.perSecond(), 500);
  });

  test('rates fall while nothing is sent and restart with an upload', () => {
    const rate = new Rate();
    rate.add(0, 0);
    rate.add(1000, 6000);
    rate.add(11000, 6000);
    assert.equal(rate.perSecond(), 0);
    rate.add(12000, 100);
    assert.equal(rate.perSecond(), null);
  });

  test('the remaining time is coarser the longer it is', () => {
    assert.equal(timeLeft(100, null), '');
    assert.equal(timeLeft(100, 0), '');
    assert.equal(timeLeft(10, 1000), 'about 1 s left');
    assert.equal(timeLeft(32_000, 1000), 'about 35 s left');
    assert.equal(timeLeft(200_000, 1000), 'about 4 min left');
    assert.equal(timeLeft(7_300_000, 1000), 'about 3 h left');
  });
});

describe('times and words', () => {
  test('a time is local, with its age', () => {
    const at = new Date(2026, 10, 5, 7, 9, 59);
    assert.equal(whenText(at.toISOString()), '2026-11-05 07:09');
    assert.equal(whenText('never'), '');
    assert.equal(whenText(null), '');
    const iso = '2026-11-21T12:00:00Z';
    const later = (seconds: number): string => agoText(iso, Date.parse(iso) + seconds * 1000);
    assert.deepEqual(
      [later(20), later(60), later(7200), later(86400 * 8), later(-7200)],
      ['just now', '1 minute ago', '2 hours ago', '1 week ago', 'in 2 hours'],
    );
    assert.equal(retentionText(30 * 86400), '30 days');
    assert.equal(retentionText(3600), '1 hour');
  });

  test('state, count, place and label have their words', () => {
    const line = { state: 'reading', progress: 0.429, calls: 0, events: 1 } as TraceLine;
    assert.equal(stateWords(line), 'reading 42 %');
    assert.equal(stateWords({ ...line, progress: null }), 'reading');
    assert.equal(progressPercent(7), 100);
    assert.equal(countWords(line), '1 event');
    assert.equal(countWords({ ...line, calls: 1234 }), '1,234 calls');
    const events = { ...line, calls: 1234, format: 'Trace Event Format' };
    assert.equal(countWords(events), '1,234 slices');
    assert.equal(offsetWords(4096), 'byte 4,096 (0x1000)');
    assert.equal(cleanLabel('  two\n words '), 'two words');
  });

  test('a refusal shows the sentence of the server, or its status', () => {
    assert.equal(
      hubErrorOf(507, '{"error":"the disk is full"}', null).message,
      'The disk is full.',
    );
    assert.equal(
      hubErrorOf(502, '<html>bad gateway', null).message,
      'The server answers with 502.',
    );
    assert.equal(hubErrorOf(503, 'null', '7').retryAfter, 7);
    assert.equal(hubErrorOf(503, '{"error":5}', 'soon').retryAfter, null);
  });
});
