/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "trace_event_styles.h"

#define PROCESS 1102u
#define BACKWARD_THREAD 1262u
#define DEVICES 8u
#define STREAMS 4u
#define START_NS UINT64_C(1712195495501688612)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const operators[] = {
    "aten::mul",
    "aten::add_",
    "aten::linear",
    "aten::addmm",
    "aten::copy_",
    "aten::_to_copy",
    "aten::empty_strided",
    "aten::transpose",
    "aten::as_strided",
    "aten::layer_norm",
    "aten::native_layer_norm",
    "aten::embedding_bag",
    "torch::autograd::AccumulateGrad",
    "autograd::engine::evaluate_function: AddmmBackward0",
    "detach",
};
static const char *const kernels[] = {
    "void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<at::native::"
    "(anonymous namespace)::OpaqueType<4u>, unsigned int, 1, 128, 1>(at::native::(anonymous "
    "namespace)::OpaqueType<4u>*, at::native::(anonymous namespace)::TensorSizeStride<unsigned "
    "int, 4u>, int, unsigned int)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
    "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>, at::detail::Array<char*, "
    "1>)",
    "volta_sgemm_128x64_tn",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
    "Memcpy HtoD (Pageable -> Device)",
};
static const char *const runtime[] = {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaEventRecord",
                                      "cudaStreamIsCapturing", "cudaStreamWaitEvent"};

struct step {
    struct random_text *text;
    uint64_t events, now, correlation, external;
    uint64_t stream_free_at[DEVICES * STREAMS];
};

static void put_time(struct random_text *text, const char *name, uint64_t ns)
{
    put(text, "\"%s\": %" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

static void put_slice(struct step *step, const char *category, const char *name, unsigned pid,
                      unsigned tid, uint64_t start, uint64_t length)
{
    put(step->text,
        "  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %u, \"tid\": %u,\n   "
        " ",
        category, name, pid, tid);
    put_time(step->text, "ts", start);
    put(step->text, ", ");
    put_time(step->text, "dur", length);
    put(step->text, ",\n    \"args\": {\n      ");
    step->events++;
}

static void put_arrow(struct step *step, bool ends, unsigned pid, unsigned tid, uint64_t time)
{
    put(step->text, "  {\n    \"ph\": \"%s\", \"id\": %" PRIu64 ", \"pid\": %u, \"tid\": %u, ",
        ends ? "f" : "s", step->correlation, pid, tid);
    put_time(step->text, "ts", time);
    put(step->text, ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"%s\n  },\n",
        ends ? ", \"bp\": \"e\"" : "");
    step->events++;
}

/* On its stream, when that is free. */
static void put_kernel(struct step *step, uint64_t launched)
{
    unsigned stream = below(step->text, DEVICES * STREAMS), device = stream / STREAMS;
    unsigned lane = 7 + stream % STREAMS * 13;
    uint64_t *free_at = &step->stream_free_at[stream];
    uint64_t start = *free_at > launched ? *free_at : launched;
    uint64_t length = 1500 + below(step->text, 60000);
    *free_at = start + length + 400;
    put_slice(step, "kernel", kernels[below(step->text, COUNT(kernels))], device, lane, start,
              length);
    put(step->text,
        "\"External id\": %" PRIu64 ",      \"queued\": 0, \"device\": %u, \"context\": 1,      "
        "\"stream\": %u, \"correlation\": %" PRIu64 ",      \"registers per thread\": 30,      "
        "\"shared memory\": 0,      \"blocks per SM\": 5.300000,      \"warps per SM\": "
        "21.200001,      \"grid\": [4, %u, 1],      \"block\": [128, 1, 1],      \"est. achieved "
        "occupancy %%\": %u\n    }\n  },\n",
        step->external, device, lane, step->correlation, 1 + below(step->text, 500),
        below(step->text, 100));
    put_arrow(step, true, device, lane, start);
}

static void put_call(struct step *step, unsigned tid)
{
    unsigned which = below(step->text, COUNT(runtime));
    uint64_t start = step->now, length = 1000 + below(step->text, 12000);
    step->now += length + 300;
    step->correlation++;
    put_slice(step, "cuda_runtime", runtime[which], PROCESS, tid, start, length);
    put(step->text,
        "\"External id\": %" PRIu64 ",      \"cbid\": %u, \"correlation\": %" PRIu64
        "\n    }\n  },\n",
        step->external, 200 + which, step->correlation);
    put_arrow(step, false, PROCESS, tid, start);
    if (which < 2)
        put_kernel(step, start + length);
}

/* At most three levels, the innermost with calls of CUDA. */
static void put_operator(struct step *step, unsigned tid, unsigned depth, uint64_t length)
{
    uint64_t start = step->now, end = start + length;
    step->external++;
    put_slice(step, "cpu_op", operators[below(step->text, COUNT(operators))], PROCESS, tid, start,
              length);
    put(step->text, "\"External id\": %" PRIu64 ",\"Ev Idx\": %" PRIu64 "\n    }\n  },\n",
        step->external, step->external - 1);
    step->now += 300;
    if (depth < 2)
        put_operator(step, tid, depth + 1, length - 30000);
    else
        for (unsigned i = below(step->text, 5); i > 0; i--)
            put_call(step, tid);
    step->now = end;
}

static void put_metadata(struct step *step)
{
    for (unsigned device = 0; device < DEVICES; device++) {
        put(step->text, "  {\n    \"name\": \"process_name\", \"ph\": \"M\", ");
        put_time(step->text, "ts", START_NS);
        put(step->text,
            ", \"pid\": %u, \"tid\": 0,\n    \"args\": {\n      \"name\": \"GPU %u\"\n    }\n  "
            "},\n",
            device, device);
        step->events++;
    }
}

uint64_t write_pytorch(struct random_text *text, uint64_t limit)
{
    struct step step = {.text = text, .now = START_NS, .correlation = 135000};
    put(text, "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, "
              "\"name\": \"Tesla V100-SXM2-32GB\", \"totalGlobalMem\": 34079637504\n    }\n  ],\n"
              "  \"traceEvents\": [\n");
    put_metadata(&step);
    while (text_length(text) < limit) {
        unsigned tid = below(text, 3) ? PROCESS : BACKWARD_THREAD;
        put_operator(&step, tid, 0, 140000);
        step.now += 500 + below(text, 4000);
    }
    put(text, "  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    "
              "\"pid\": \"\", \"tid\": \"\", ");
    put_time(text, "ts", step.now);
    put(text, "\n  }\n  ],\n  \"traceName\": \"/tmp/libkineto_activities_1102.json\",\n  "
              "\"displayTimeUnit\": \"ns\"\n}\n");
    return step.events + 1;
}
