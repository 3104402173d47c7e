// SPDX-License-Identifier: Apache-2.0
// Runs every test of the page in a real browser, in one process with one browser:
//
//     TRACEVIEW=build/dev/src/traceview TRACEVIEW_EXAMPLE=build/dev/examples/example.trace \
//         npm --prefix tests/browser test
import './accessibility.test.mjs';
import './accessible-all.test.mjs';
import './arrange.test.mjs';
import './compensate.test.mjs';
import './corners.test.mjs';
import './details.test.mjs';
import './events.test.mjs';
import './example.test.mjs';
import './filter.test.mjs';
import './findings.test.mjs';
import './flame.test.mjs';
import './flamegraph.test.mjs';
import './flows.test.mjs';
import './health.test.mjs';
import './hovering.test.mjs';
import './history.test.mjs';
import './hub.test.mjs';
import './hub-accessible.test.mjs';
import './hub-server.test.mjs';
import './hub-upload.test.mjs';
import './instants.test.mjs';
import './objects.test.mjs';
import './keyboard.test.mjs';
import './keys.test.mjs';
import './kept.test.mjs';
import './lower.test.mjs';
import './motion.test.mjs';
import './notes.test.mjs';
import './numbers.test.mjs';
import './open.test.mjs';
import './order.test.mjs';
import './page.test.mjs';
import './picture.test.mjs';
import './report.test.mjs';
import './samples.test.mjs';
import './save.test.mjs';
import './site.test.mjs';
import './sketch.test.mjs';
import './states.test.mjs';
import './tables.test.mjs';
import './traces.test.mjs';
import './trees.test.mjs';
import './twin.test.mjs';
import './windows.test.mjs';
import './words.test.mjs';
