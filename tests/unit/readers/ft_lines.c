/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-threads that show one thing at a time, and tracks with names (ftrace.md sections 3 and
 * 4). */
#include "ft_made.h"
#include "unit.h"

/* A value stands until the next one. */
static void draws_time_lines(void **context)
{
    (void)context;
    means("a-7 [000] d..3 1.000000: sync_timeline: name=vb 2 value=37\n"
          "a-7 [000] d..3 1.000004: sync_timeline: name=vb 2 value=38\n"
          "a-7 [000] d..3 1.000009: ev: x\n",
          "thread vb 2 of 0\n  37 0+4 38 4+5 open\n"
          "instant ev of a 9\n! open-call 1\n");
}

/* The work since the time line was last busy. */
static void draws_fences(void **context)
{
    (void)context;
#define FENCE(time, event, number)                                                                 \
    "a-7 [000] .... " time ": dma_fence_" event ": driver=v timeline=ctl context=1 seqno=" number  \
    "\n"
    means(FENCE("1.000000", "init", "1") FENCE("1.000002", "emit", "1")
              FENCE("1.000005", "enable_signal", "1") FENCE("1.000009", "signaled", "1"),
          "thread ctl of 0\n  fence_enable(1) 2+3 fence_signal(1) 5+4\n"
          "instant dma_fence_init of a 0\ninstant dma_fence_emit of a 2\n");
}

static void draws_flips(void **context)
{
    (void)context;
    means("a-7 [000] d.h. 1.000000: exynos_page_flip_state: pipe=0, fb=26, state=wait_kds\n"
          "a-7 [000] d.h. 1.000002: exynos_page_flip_state: pipe=0, fb=26, state=wait_flip\n"
          "a-7 [000] d.h. 1.000003: exynos_page_flip_state: pipe=0, fb=26, state=flipped\n"
          "X-8 [000] 1.000004: i915_flip_request: plane=0, obj=ff88\n"
          "X-8 [000] 1.000009: i915_flip_complete: plane=0, obj=ff88\n",
          "thread exynos_flip_state (pipe:0, fb:26) of 0\n  wait_kds 0+2 wait_flip 2+1\n"
          "thread i915_flip of 0\n  flip:ff88/0 4+5\n");
}

/* The second job waits for the first. */
static void draws_jobs_of_mali(void **context)
{
    (void)context;
#define JOB(time, what, phase, job)                                                                \
    "a-7 [000] d.h2 " time ": mali_job_systrace_event_" what ": tracing_mark_write: " phase        \
    "|7|vertex-job|" job "|84|1|0|0|920d408|1\n"
    means(JOB("1.000000", "start", "S", "85") JOB("1.000003", "start", "S", "86")
              JOB("1.000005", "stop", "F", "85") JOB("1.000009", "stop", "F", "86"),
          "thread mali:vertex of 0\n  85 0+5 86 5+4\n");
}

/* 192 ticks of 19.2 MHz are 10 us. */
static void draws_jobs_of_adreno(void **context)
{
    (void)context;
    means("a-7 [000] .... 1.000000: msm_gpu_submit_flush: id=4 pid=7 ring=0:1 ticks=1000\n"
          "b-8 [000] .... 1.000050: msm_gpu_submit_retired: id=4 pid=7 ring=0:1 elapsed=1 ns "
          "mhz=1 start=1192 end=1576\n"
          "b-8 [000] .... 1.000060: msm_gpu_submit_retired: id=5 start=1 end=2\n",
          "thread GPU of 0\n  4 10+20\n"
          "async pipelineGPU of 0\n  pipeline 0+30\n   4 queued 0+10 4 running 10+20\n"
          "instant 5 of GPU 60\n");
}

static void knows_when_kswapd_is_awake(void **context)
{
    (void)context;
    means("kswapd0-33 [001] ...1 1.000000: mm_vmscan_kswapd_wake: nid=0 order=0\n"
          "kswapd0-33 [001] ...1 1.000002: mm_vmscan_kswapd_wake: nid=0 order=2\n"
          "kswapd0-33 [001] ...1 1.000009: mm_vmscan_kswapd_sleep: nid=0\n",
          "thread kswapd0\n  kswapd0 0+9\n");
}

/* Marks of libraries of Chrome OS. */
static void reads_what_drivers_say(void **context)
{
    (void)context;
#define SAID(time, text) "X-7 [000] ...1 " time ": tracing_mark_write: " text "\n"
    means(SAID("1.000000", "mali_driver: (mali-5) cros_trace_print_enter: a.c@15: upload: x y")
              SAID("1.000004", "mali_driver: (mali-5) cros_trace_print_exit: a.c@15:")
                  SAID("1.000005", "SyncInterpret: start: FlingStop")
                      SAID("1.000007", "SyncInterpret: end: FlingStop")
                          SAID("1.000008", "other: text"),
          "thread mali-5 of 0\n  upload 0+4\n"
          "thread gesture of 0\n  SyncInterpret 5+2\n"
          "instant other: text of X 8\n");
}

static void counts_what_mali_counts(void **context)
{
    (void)context;
    means("k-5 [000] .... 1.000000: mali_hwc_ACTIVE: val=238\n"
          "k-5 [000] .... 1.000001: mali_hwc_JS3_WAIT_READ: val=7\n"
          "k-5 [000] .... 1.000002: mali_hwc_NEW_ONE: val=8\n",
          "counter Tiler: Tiler Active 0:238\n"
          "counter JM: JS3 Wait Read 1:7\n"
          "counter mali_hwc_NEW_ONE 2:8\n");
}

/* The row has the name of the track, its slices those of the events. */
static void names_tracks(void **context)
{
    (void)context;
    means("a-7 (7) [000] ...1 1.000000: tracing_mark_write: G|7|lane|load|1\n"
          "b-8 (7) [000] ...1 1.000004: tracing_mark_write: H|7|lane|1\n"
          "a-7 (7) [000] ...1 1.000005: tracing_mark_write: G|7|lane|draw|2\n"
          "a-7 (7) [000] ...1 1.000008: tracing_mark_write: N|7|lane|now\n"
          "a-7 (7) [000] ...1 1.000009: tracing_mark_write: H|7|lane|draw|2\n",
          "async lane of 7\n  load 0+4 draw 5+4\n"
          "async lane of 7\n  now 8+0\n");
}

/* The first action of an adapter ends nothing; a result without an action is an unmatched end. */
static void draws_adapters(void **context)
{
    (void)context;
#define I2C(time, event)                                                                           \
    "a-7 [000] ...1 1.00000" time ": i2c_" event ": i2c-3 #0 a=020 f=0000 l=2\n"
    means(I2C("0", "write") I2C("2", "read") I2C("5", "result"),
          "thread i2c adapter 3 of 0\n  i2c write 0+2 i2c read 2+3\n");
    means(I2C("0", "result") I2C("1", "write") I2C("3", "result"),
          "thread i2c adapter 3 of 0\n  i2c write 1+2\n! unmatched-exit 1\n");
}

/* While a cookie is open, further begins and as many ends are ignored. */
static void begins_once(void **context)
{
    (void)context;
#define MARK(time, text) "a-7 (7) [000] ...1 1.00000" time ": tracing_mark_write: " text "\n"
    means(MARK("0", "S|7|as|5") MARK("1", "S|7|as|5") MARK("2", "F|7|as|5") MARK("3", "F|7|as|5")
              MARK("4", "S|7|as|5") MARK("5", "F|7|as|5") MARK("6", "G|7|lane|x|1")
                  MARK("7", "G|7|lane|x|1") MARK("8", "H|7|lane|1") MARK("9", "F|7|as|5"),
          "async asa of 7\n  as 0+2 as 4+1\n"
          "async asa of 7\n  as 0+9 entered\n"
          "async lane of 7\n  x 6+2\n"
          "! async-begun-twice 2\n");
}

/* A number may be larger than 64 bits. */
static void counts_large_numbers(void **context)
{
    (void)context;
    means(MARK("0", "C|7|n|1") MARK("4", "C|7|n|99999999999999999999"), "counter n 0:1 4:1e+20\n");
}

UNIT_TESTS(ft_lines, cmocka_unit_test(draws_time_lines), cmocka_unit_test(draws_fences),
           cmocka_unit_test(draws_flips), cmocka_unit_test(draws_jobs_of_mali),
           cmocka_unit_test(draws_jobs_of_adreno), cmocka_unit_test(knows_when_kswapd_is_awake),
           cmocka_unit_test(reads_what_drivers_say), cmocka_unit_test(counts_what_mali_counts),
           cmocka_unit_test(draws_adapters), cmocka_unit_test(names_tracks),
           cmocka_unit_test(begins_once), cmocka_unit_test(counts_large_numbers));
