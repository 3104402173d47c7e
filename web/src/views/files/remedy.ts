// SPDX-License-Identifier: Apache-2.0
// Advice for files that could not be opened.

import type { ErrorKind } from '../../model/opening';

const REMEDIES: Record<ErrorKind | 'empty' | 'packed' | 'encrypted' | 'window', string> = {
  unsupported:
    'traceview reads Android method traces, Trace Event JSON (Chrome, Node, Bazel, PyTorch, …), ftrace text, ' +
    'systrace pages, Perfetto, Java Flight Recorder, pprof, OpenTelemetry profiles and spans, spans of Jaeger and ' +
    'Zipkin, perf, V8, speedscope, the Firefox Profiler, CPU profiles of hprof, callgrind, cachegrind, cProfile, ' +
    'Austin, strace text, XML of Instruments, .ninja_log and collapsed stacks, also packed with gzip, zstd, zip or ' +
    'tar. Check that this is the right file, and that it is complete.',
  empty:
    'Nothing was written to it: end the recording before you copy the file, and check that there is space on the ' +
    'device; then record, or copy, again.',
  packed:
    'Open it in a terminal with "traceview FILE", which reads most of these, or unpack it first.',
  encrypted: 'Unpack it with its password first, and open what is inside.',
  window: 'Unpack it in a terminal with the command named above, and open the result.',
  many: 'Open fewer at a time.',
  syntax:
    'The file is damaged there, or was cut off while it was written or copied. Compare its size with the ' +
    'original, copy it again, or record it again.',
  io: 'Check that the file still exists, that you may read it, and that nothing is writing to it; then try again.',
  limit:
    'The file is larger than it may be here. Unpack it, or record for a shorter time, and open what comes of it.',
  room:
    'Free space on that disk, or start traceview with TMPDIR set to a folder on another one. Files named on the ' +
    'command line are read in place and need none.',
  memory:
    'The program can use all the memory of the machine: in a terminal, run "traceview FILE". ' +
    'Or record for a shorter time, or fewer events.',
  usage: 'Open the files again.',
  other:
    'Try again; if that does not help, open the file from a terminal, which prints the same error.',
};

export function remedyFor(kind: ErrorKind | undefined, message: string): string {
  if (message.includes('TMPDIR')) return REMEDIES.room;
  if (message.includes('zstd -d')) return REMEDIES.window;
  if (message.includes('an encrypted zip')) return REMEDIES.encrypted;
  if (message.includes('not unpacked in a page'))
    return REMEDIES[message.includes('encrypt') ? 'encrypted' : 'packed'];
  return REMEDIES[message.includes('found an empty file') ? 'empty' : (kind ?? 'other')];
}
