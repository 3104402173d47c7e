// SPDX-License-Identifier: Apache-2.0
// Files dropped on the page and chosen in the file dialog: opened, added, moved in time, cancelled,
// and what is said when they cannot be.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { assertAccessible } from './axe.mjs';
import { openPage, place, ready, until, withPage } from './browser.mjs';
import { after, test } from './suite.mjs';
import { json, view, viewWith } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'open-'));
after(() => rmSync(folder, { recursive: true }));

function file(name, data) {
  const path = join(folder, name);
  writeFileSync(path, data);
  return path;
}

/** Two slices on one clock, 4 us apart, and a call of a thread of their own each. */
const slice = (name, pid, ts, dur) => ({
  ph: 'X',
  name,
  pid,
  tid: pid,
  ts,
  dur,
});
const first = file('first.json', JSON.stringify([slice('alpha', 1, 1000, 10)]));
const second = file('second.json', JSON.stringify([slice('beta', 2, 1004, 2)]));
const packed = file('third.json.gz', gzipSync(JSON.stringify([slice('gamma', 3, 1020, 5)])));
const broken = file('broken.trace', 'this is no trace\n');

async function transfer(page, paths) {
  const files = paths.map((path) => [basename(path), readFileSync(path).toString('base64')]);
  return await page.evaluateHandle((list) => {
    const data = new DataTransfer();
    for (const [name, text] of list) {
      const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
      data.items.add(new File([bytes], name));
    }
    return data;
  }, files);
}

async function drop(page, ...paths) {
  const dataTransfer = await transfer(page, paths);
  for (const event of ['dragenter', 'dragover', 'drop'])
    await page.dispatchEvent('body', event, { dataTransfer });
}

const button = (page, name) => page.getByRole('button', { name, exact: true });
const dialog = (page) => page.locator('.open-dialog[open]');
/** The page shows that trace, and not the one before any more. */
const title = (page, text) =>
  until(
    () => page.evaluate(() => document.querySelector('.page .top h1')?.textContent ?? ''),
    (t) => t.startsWith(text),
    `the title ${text}`,
  );

/** What the page says of its trace, from its own engine. */
const facts = (page) => page.evaluate(async () => (await fetch('api/trace')).json());

/** Starts the program on files, opens its page and ends both; nothing may go wrong on the way. */
async function onProgram(files, run, options = {}) {
  const viewer = await view(...files);
  try {
    await withPage(viewer.address + (options.hash ?? ''), {}, async ({ page, troubles }) => {
      await run(page, viewer);
      assert.deepEqual(
        // A question about a trace that was just put away is answered by 410.
        troubles.filter((t) => !/410/.test(t) && !options.expected?.test(t)),
        [],
      );
    });
  } finally {
    await viewer.stop();
  }
}

test('an empty page opens a dropped file', async () => {
  await onProgram([], async (page) => {
    await page.getByRole('heading', { name: 'Drop traces here' }).waitFor();
    assert.equal(await page.locator('.drop-target').isVisible(), false);
    const dataTransfer = await transfer(page, [first]);
    await page.dispatchEvent('body', 'dragenter', { dataTransfer });
    assert.equal(await page.locator('.drop-target').innerText(), 'Drop to open');
    await page.dispatchEvent('body', 'dragleave', { dataTransfer });
    assert.equal(await page.locator('.drop-target').isVisible(), false);
    await drop(page, first, packed);
    await ready(page);
    await title(page, 'first.json and 1 more');
    assert.equal(await page.locator('.top h1').innerText(), 'first.json and 1 more');
    const told = json('info', first, packed, '--format', 'json');
    const trace = await facts(page);
    assert.equal(trace.end_ns - trace.start_ns, told.span_ns);
    assert.equal(trace.calls, 2);
    assert.equal((await place(page)).files, '0,1');
    await page.reload();
    await ready(page);
    await title(page, 'first.json and 1 more');
  });
});

test('the file dialog opens by key, from the bar and on the empty page', async () => {
  await onProgram([], async (page) => {
    const choose = async (act, ...paths) => {
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), act()]);
      assert.equal(chooser.isMultiple(), true);
      await chooser.setFiles(paths);
    };
    await choose(() => button(page, 'Open files…').click(), first);
    await ready(page);
    await choose(() => page.keyboard.press('Control+o'), second);
    await dialog(page).waitFor();
    await page.keyboard.press('Enter'); // the usual: instead
    await title(page, 'second.json');
    await ready(page);
    await choose(() => button(page, 'Open').click(), first);
    await dialog(page).waitFor();
    await page.keyboard.press('Escape');
    await until(() => dialog(page).count(), 0, 'the dialog');
    assert.match(await page.title(), /^second\.json/);
  });
});

test('a second file replaces the first, and Back returns to the first', async () => {
  await onProgram([first], async (page) => {
    await ready(page);
    await drop(page, second);
    assert.match(
      (await dialog(page).innerText()).replace(/\s+/g, ' '),
      /Open second\.json first\.json is open\. Open instead.*Add to this trace/,
    );
    await button(page, 'Open instead').click();
    await title(page, 'second.json');
    await ready(page);
    assert.equal((await place(page)).files, '1');
    await page.goBack();
    await title(page, 'first.json');
    await ready(page);
    assert.equal((await place(page)).files, undefined);
    await page.goForward();
    await title(page, 'second.json');
  });
});

test('a file is added to the trace and shifted, as the command line does it', async () => {
  await onProgram([first], async (page) => {
    await ready(page);
    await drop(page, second);
    await button(page, 'Add to this trace').click();
    await title(page, 'first.json and 1 more');
    await ready(page);
    await page.getByRole('tab', { name: 'Info' }).click();
    const box = page.getByLabel('Offset of second.json');
    assert.equal(await box.inputValue(), '0 ms');

    await box.fill('2 weeks');
    await box.press('Enter');
    assert.match(await page.locator('.files [role=alert]').nth(1).innerText(), /^Expected a time/);
    await box.press('Escape');
    assert.equal(await box.inputValue(), '0 ms');

    await box.fill('-4.5us');
    await box.press('Enter');
    await until(() => place(page).then((p) => p.files), '0,1:-4500', 'files in the address');
    const told = json('info', '--offset', 'second.json=-4.5us', first, second, '--format', 'json');
    const trace = await until(
      () => facts(page),
      (answer) => answer.end_ns - answer.start_ns === told.span_ns,
      'the trace whose file was moved',
    );
    assert.equal(told.span_ns, 10_500); // by hand: -0.5 us to 10 us
    const starts = Object.fromEntries(trace.tracks.map((t) => [t.thread_id, t.start_ns]));
    assert.deepEqual(starts, { 1: 500, 2: 0 });
    await until(() => box.evaluate((e) => e === document.activeElement), true, 'the focus');
    assert.equal((await place(page)).tab, 'info');

    await page.reload();
    await until(() => page.getByLabel('Offset of second.json').inputValue(), '-4.5 µs', 'the box');
    await page.goBack();
    await until(() => page.getByLabel('Offset of second.json').inputValue(), '0 ms', 'the box');
  });
});

test('the page begins with the offsets of the command line', async () => {
  await onProgram(['--offset', 'second.json=1.5ms', first, second], async (page) => {
    await ready(page);
    await page.getByRole('tab', { name: 'Info' }).click();
    assert.equal(await page.getByLabel('Offset of second.json').inputValue(), '1.5 ms');
    assert.equal((await place(page)).files, undefined);
  });
});

test('an error names file, place and remedy, and leads back', async () => {
  await onProgram([first], async (page) => {
    await ready(page);
    await drop(page, broken);
    await button(page, 'Open instead').click();
    await page.getByRole('heading', { name: 'broken.trace could not be opened' }).waitFor();
    const text = await page.locator('.screen').innerText();
    assert.match(text, /broken\.trace: byte 0: expected a trace/);
    assert.match(text, /byte 0 \(0x0\)/);
    assert.match(
      text,
      /00000000 *74 68 69 73 20 69 73 20 6e 6f 20 74 72 61 63 65 *this is no trace/,
    );
    assert.equal(await page.locator('.bytes mark').first().innerText(), '74');
    assert.match(text, /reads Android method traces/);
    await button(page, 'Back to what was open').click();
    await ready(page);
    await title(page, 'first.json');
    // A folder is no file.
    const dataTransfer = await transfer(page, [first]);
    await page.evaluate((data) => {
      Object.defineProperty(DataTransferItem.prototype, 'webkitGetAsEntry', {
        value: () => ({ isDirectory: true, name: 'traces' }),
      });
      document.body.dispatchEvent(
        new DragEvent('drop', {
          bubbles: true,
          cancelable: true,
          dataTransfer: data,
        }),
      );
    }, dataTransfer);
    await page.getByRole('heading', { name: 'traces could not be opened' }).waitFor();
    assert.match(await dialog(page).innerText(), /found a folder/);
    await button(page, 'Close').click();
  });
});

const WRONG = {
  // As many words as it takes to know what to do next.
  'empty.trace': ['', /found an empty file/, /end the recording before you copy the file/],
  'other.json': ['{"a": 1}', /expected the key "traceEvents"/, /CPU profiles of hprof/],
  'net.trace': [
    'Nettrace\x14\0\0\0!FastSerialization.1',
    /dotnet-trace convert/,
    /Check that this is the right file/,
  ],
  'cut.json.gz': [
    gzipSync('{}').subarray(0, 10),
    /byte 10: damaged container: truncated/,
    /cut off/,
  ],
};

test('an unreadable file says what is wrong and what to do', async () => {
  await onProgram([first], async (page) => {
    await ready(page);
    for (const [name, [data, message, remedy]] of Object.entries(WRONG)) {
      await drop(page, file(name, data));
      await button(page, 'Open instead').click();
      await page.getByRole('heading', { name: `${name} could not be opened` }).waitFor();
      assert.match(await page.getByRole('alert').innerText(), message, name);
      assert.match(await page.locator('.screen main').innerText(), remedy, name);
      await button(page, 'Back to what was open').click();
      await ready(page);
    }
  });
});

test('more files than one time line holds are refused before any upload', async () => {
  await onProgram([first], async (page) => {
    await ready(page);
    let taken = 0;
    await page.route('**/api/upload*', (route) => {
      taken++;
      return route.continue();
    });
    await drop(page, ...Array.from({ length: 65 }, () => second));
    await page.getByRole('heading', { name: 'second.json could not be opened' }).waitFor();
    assert.match(await dialog(page).innerText(), /at most 64 files .* found 65[^]*fewer at a time/);
    await button(page, 'Close').click();
    await drop(page, ...Array.from({ length: 64 }, () => second));
    await button(page, 'Add to this trace').click();
    await page.getByRole('heading', { name: 'second.json could not be opened' }).waitFor();
    assert.equal(taken, 0);
    await button(page, 'Close').click();
  });
});

test('a full disk is reported, and the open trace stays', async () => {
  const full = {
    status: 507,
    json: {
      error: 'no room for 9.0 GB where temporary files go, there is 1.0 MB (TMPDIR says where)',
    },
  };
  const expected = /507/;
  const run = async (page) => {
    await ready(page);
    await page.route('**/api/upload*', (route) => route.fulfill(full));
    await drop(page, second);
    await button(page, 'Open instead').click();
    await page.getByRole('heading', { name: 'second.json could not be opened' }).waitFor();
    assert.match(await dialog(page).innerText(), /no room for 9\.0 GB[^]*Free space on that disk/);
    await button(page, 'Close').click();
    assert.match(await page.title(), /^first\.json/);
  };
  await onProgram([first], run, { expected });
});

test('Cancel stops an upload', async () => {
  await onProgram([first], async (page) => {
    await ready(page);
    let dropped = 0;
    let go = null;
    await page.route('**/api/upload?input*', (route) => (go = route)); // never answered
    await page.route('**/api/drop*', (route) => {
      dropped++;
      return route.continue();
    });
    await drop(page, second);
    await button(page, 'Open instead').click();
    await until(() => go !== null, true, 'the piece');
    assert.match(await dialog(page).innerText(), /Adding second\.json[^]*0 bytes of \d+ bytes/);
    await button(page, 'Cancel').click();
    await until(() => dialog(page).count(), 0, 'the dialog');
    await until(() => dropped, 1, 'the drop');
    assert.match(await page.title(), /^first\.json/);
  });
});

test('Cancel while reading leads to the empty page, which can read the file again', async () => {
  const pipe = join(folder, 'slow.json');
  execFileSync('mkfifo', [pipe]);
  await onProgram([pipe, first], async (page) => {
    await page.getByRole('heading', { name: 'Reading' }).waitFor();
    await button(page, 'Cancel').click();
    assert.equal(
      await page.locator('.said').innerText(),
      'Reading slow.json and 1 more was cancelled.',
    );
    await button(page, 'first.json').click();
    await ready(page);
    await title(page, 'first.json');
    assert.equal((await place(page)).files, '1');
    writeFileSync(pipe, readFileSync(second)); // so that whoever waits for it ends
  });
});

test('Cancel while reading returns to the trace that was open', async () => {
  const pipe = join(folder, 'silent.json');
  execFileSync('mkfifo', [pipe]);
  await onProgram([pipe, first], async (page) => {
    await button(page, 'Cancel').click();
    await button(page, 'first.json').click();
    await ready(page);
    // As a link does that somebody kept.
    await page.evaluate(() => (location.hash = '#files=0,1'));
    await page.getByText('returns to the trace that was open').waitFor();
    await button(page, 'Cancel').click();
    await ready(page);
    await title(page, 'first.json');
    assert.equal((await place(page)).files, '1');
    writeFileSync(pipe, readFileSync(second));
  });
});

test('opening a file in one tab changes nothing in another', async () => {
  await onProgram([first], async (page, viewer) => {
    await ready(page);
    const other = await openPage(viewer.address);
    await ready(other.page);
    await drop(other.page, second);
    await button(other.page, 'Open instead').click();
    await title(other.page, 'second.json');
    await ready(other.page);
    await page.getByRole('tab', { name: 'Profile' }).click();
    await ready(page);
    assert.match(await page.locator('#pane-profile').innerText(), /alpha/);
    for (const shown of [page, other.page]) await shown.reload();
    await title(page, 'first.json');
    await title(other.page, 'second.json');
    // The address of the one leads to its trace in the other.
    await page.goto(other.page.url());
    await title(page, 'second.json');
    // Each page has a history of its own.
    await other.page.goBack();
    await title(other.page, 'first.json');
    await title(page, 'second.json');
    await other.close();
  });
});

test('a trace that the program closed to free memory is opened again', async () => {
  await onProgram([first], async (page) => {
    await ready(page);
    await page.getByRole('tab', { name: 'Info' }).click();
    // As many as may lie open (TV_OPEN_TRACES).
    const last = await page.evaluate(async () => {
      const change = { method: 'POST', headers: { 'X-Traceview': '1' } };
      let trace = 0;
      for (let i = 1; i <= 24; i++)
        ({ trace } = await (await fetch(`api/open?inputs=0&offsets=${i}`, change)).json());
      return trace;
    });
    assert.equal(last, 25);
    const old = await page.evaluate(async () => (await fetch('api/status?trace=1')).json());
    assert.equal(old.state, 'empty');
    await page.getByRole('tab', { name: 'Profile' }).click();
    await ready(page);
    await title(page, 'first.json');
    assert.match(await page.locator('#pane-profile').innerText(), /alpha/);
  });
});

test('an unreadable file leaves the open trace in place, also after a reload', async () => {
  await onProgram([first], async (page) => {
    await ready(page);
    await drop(page, broken);
    await button(page, 'Open instead').click();
    await page.getByRole('heading', { name: 'broken.trace could not be opened' }).waitFor();
    await page.reload();
    await ready(page);
    await title(page, 'first.json');
  });
});

test('recent files are offered again, in each tab by itself', async () => {
  const state = { XDG_STATE_HOME: join(folder, 'state') };
  const files = ['first.json', 'second.json'].map((name) => join(folder, name));
  for (const file of files) {
    const event = { ph: 'X', name: 'a', pid: 1, tid: 1, ts: 0, dur: 1 };
    writeFileSync(file, JSON.stringify([event]));
    await (await viewWith(state, file)).stop();
  }
  const viewer = await viewWith(state);
  const tabs = [await openPage(viewer.address), await openPage(viewer.address)];
  const [one, other] = tabs.map(({ page }) => page);
  const offered = one.locator('main, body').first();
  await offered.getByText('Open again').waitFor();
  const text = await offered.innerText();
  assert.ok(text.indexOf('second.json') < text.indexOf('first.json'), text);
  await one.getByText('first.json').click();
  await ready(one);
  await other.getByText('second.json').click();
  await ready(other);
  assert.match(await one.title(), /^first\.json/);
  assert.match(await other.title(), /^second\.json/);
  await other.goBack();
  await other.getByText('Open again').waitFor();
  await other.goForward();
  await ready(other);
  assert.match(await other.title(), /^second\.json/);
  for (const { troubles, close } of tabs) {
    assert.deepEqual(troubles, []);
    await close();
  }
  await viewer.stop();
});

test('Back leads to the empty page on which a trace was opened', async () => {
  await onProgram([], async (page) => {
    await drop(page, first);
    await ready(page);
    await page.goBack();
    await page.getByRole('heading', { name: 'Drop traces here' }).waitFor();
    await page.goForward();
    await ready(page);
    await title(page, 'first.json');
  });
});

test('an address of deleted files shows the trace that is open', async () => {
  await onProgram(
    [first],
    async (page) => {
      await ready(page);
      await title(page, 'first.json');
      assert.equal((await place(page)).files, undefined);
    },
    { hash: '#files=7,8:100&tab=flame', expected: /400/ },
  );
});

const HPROF =
  'THREAD START (obj=1, id = 200001, name="main", group="system")\n' +
  'TRACE 300001: (thread=200001)\n\tapp.Main.run(Main.java:3)\n' +
  'CPU SAMPLES BEGIN (total = 7) Wed Jul 21 12:03:46 2010\n' +
  'rank   self  accum   count trace method\n' +
  '   1 100.00% 100.00%       7  300001 app.Main.run\nCPU SAMPLES END\n';

test('files with numbers but no times say so', async () => {
  const stacks = file('stacks.collapsed', 'main;a;b 10\nmain;c 5\n');
  const hprof = file('java.hprof.txt', HPROF);
  await onProgram([stacks], async (page) => {
    await ready(page);
    const told = () => page.locator('.top').innerText();
    assert.match(await told(), /Collapsed stacks, weights, no times/);
    await page.getByRole('tab', { name: 'Profile' }).click();
    const table = await page.locator('#pane-profile').innerText();
    assert.doesNotMatch(table, /distorted by tracing|Calls|per call|\bms\b|Real/);
    assert.match(table, /Self[^]*samples[^]*main[^]*100\.0\s+15\s/);
    await page.getByRole('tab', { name: 'Info' }).click();
    const info = page.locator('#pane-info');
    assert.match(await info.innerText(), /weights and no times/);
    assert.doesNotMatch(await info.innerText(), /Tracing slows the program/);
    await drop(page, hprof);
    await button(page, 'Open instead').click();
    await title(page, 'java.hprof.txt');
    await ready(page);
    assert.match(await told(), /hprof CPU profile, weights, no times/);
    await drop(page, first); // with it there are times
    await button(page, 'Add to this trace').click();
    await title(page, 'java.hprof.txt and 1 more');
    assert.doesNotMatch(await told(), /no times/);
  });
});

test('names stay text, whatever they look like', async () => {
  const evil = file('<img src=x onerror=alert(1)>.json', readFileSync(first));
  await onProgram([second], async (page) => {
    await ready(page);
    await drop(page, evil);
    assert.match(await dialog(page).innerText(), /Open <img src=x onerror=alert\(1\)>\.json/);
    await button(page, 'Add to this trace').click();
    await title(page, 'second.json and 1 more');
    await ready(page);
    await page.getByRole('tab', { name: 'Info' }).click();
    await page.getByLabel('Offset of <img src=x onerror=alert(1)>.json').waitFor();
    assert.equal(await page.locator('img').count(), 0);
  });
});

test('accessible: without a file, the dialog, an error, files in Info', async () => {
  const viewer = await view();
  // The test's own script is not in the page's content policy.
  const { page, close } = await openPage(viewer.address, { bypassCSP: true });
  await page.getByRole('heading', { name: 'Drop traces here' }).waitFor();
  await assertAccessible(page);
  await drop(page, first, second);
  await ready(page);
  await page.getByRole('tab', { name: 'Info' }).click();
  await page.getByLabel('Offset of second.json').fill('x');
  await page.getByLabel('Offset of second.json').press('Enter');
  await assertAccessible(page);
  await drop(page, broken);
  await dialog(page).waitFor();
  await assertAccessible(page);
  await button(page, 'Open instead').click();
  await page.getByRole('heading', { name: 'broken.trace could not be opened' }).waitFor();
  await assertAccessible(page);
  await close();
  await viewer.stop();
});

const data = fileURLToPath(new URL('../../../shared/data/', import.meta.url));

test('real traces open together, cut off and packed, and other files are refused', async (t) => {
  if (!existsSync(data)) return t.skip('skipped: ../shared not there');
  const calls = join(data, 'method-trace/real/studio-streaming.trace');
  const events = join(data, 'trace-event/lighthouse/cutoff-load-m83.trace.json');
  await onProgram([], async (page) => {
    await drop(page, calls, events);
    await ready(page);
    const told = json('info', calls, events, '--format', 'json');
    const shown = await facts(page);
    assert.equal(shown.calls, told.calls);
    assert.equal(shown.end_ns - shown.start_ns, told.span_ns);
    const others = {
      [file('go.trace', 'go 1.19 trace\0\0\0')]: /byte 0: .*an execution trace of Go/,
      [join(data, 'trace-event/catapult/v8.log.gz')]:
        /v8\.log\.gz: a container without a trace in it: found a V8 log/,
    };
    for (const [path, words] of Object.entries(others)) {
      await drop(page, path);
      await button(page, 'Open instead').click();
      await page.getByRole('alert').waitFor();
      assert.match(await page.getByRole('alert').innerText(), words);
      await button(page, 'Back to what was open').click();
      await ready(page);
    }
  });
});
