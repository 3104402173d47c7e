/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/jfr/scan.h"

#include "base/bytes.h"

#define GC_TRACK "GC"

#define SAMPLE(event) .name = (event), .role = TV_JFR_SAMPLE
#define BLOCKED(event)                                                                             \
    {                                                                                              \
        .name = (event), .role = TV_JFR_BLOCKED                                                    \
    }
#define COUNTER(event, ...)                                                                        \
    {                                                                                              \
        .name = (event), .role = TV_JFR_COUNTER, .series = { __VA_ARGS__ }                         \
    }
#define KEYED_COUNTER(event, field, ...)                                                           \
    {                                                                                              \
        .name = (event), .role = TV_JFR_COUNTER, .key = (field), .series = { __VA_ARGS__ }         \
    }
#define FACTS(event)                                                                               \
    {                                                                                              \
        .name = (event), .role = TV_JFR_FACTS                                                      \
    }
#define ON_TRACK(event, where, field)                                                              \
    {                                                                                              \
        .name = (event), .track = (where), .title = (field)                                        \
    }

/* The first row that fits counts. */
static const struct tv_jfr_event_kind event_kinds[] = {
    {SAMPLE("jdk.ExecutionSample")},
    {SAMPLE("jdk.NativeMethodSample")},
    {SAMPLE("jdk.CPUTimeSample"), .more = "samplingPeriod", .more_unit = "nanoseconds"},
    {SAMPLE("profiler.WallClockSample"), .weight = "samples"},
    {SAMPLE("jdk.ObjectAllocationSample"), .weight = "weight", .unit = "bytes"},
    {SAMPLE("jdk.ObjectAllocationInNewTLAB"), .weight = "tlabSize", .unit = "bytes"},
    {SAMPLE("jdk.ObjectAllocationOutsideTLAB"), .weight = "allocationSize", .unit = "bytes"},
    /* Recordings of version 1.0: the JDK of today counts the objects, not the TLABs. */
    {SAMPLE("com.oracle.jdk.ObjectAllocationInNewTLAB"), .weight = "allocationSize",
     .unit = "bytes", .more = "tlabSize", .more_unit = "bytes"},
    {SAMPLE("jdk.OldObjectSample"), .more = "objectSize", .more_unit = "bytes"},
    {SAMPLE("profiler.LiveObject"), .more = "allocationSize", .more_unit = "bytes"},
    {SAMPLE("profiler.Malloc"), .more = "size", .more_unit = "bytes"},
    {SAMPLE("profiler.Free")},
    {SAMPLE("datadog.ExecutionSample"), .weight = "weight"},
    {SAMPLE("datadog.MethodSample"), .weight = "weight"},
    BLOCKED("jdk.JavaMonitorEnter"),
    BLOCKED("jdk.JavaMonitorWait"),
    BLOCKED("jdk.ThreadPark"),
    BLOCKED("jdk.ThreadSleep"),
    BLOCKED("jdk.VirtualThreadPinned"),
    BLOCKED("jdk.FileRead"),
    BLOCKED("jdk.FileWrite"),
    BLOCKED("jdk.FileForce"),
    BLOCKED("jdk.SocketRead"),
    BLOCKED("jdk.SocketWrite"),
    BLOCKED("jdk.SocketConnect"),
    BLOCKED("jdk.MethodTrace"),
    BLOCKED("profiler.NativeLock"),
    COUNTER("jdk.CPULoad", "jvmUser", "jvmSystem", "machineTotal"),
    KEYED_COUNTER("jdk.ThreadCPULoad", "eventThread", "user", "system"),
    COUNTER("jdk.GCHeapSummary", "heapUsed", "heapSpace.committedSize"),
    COUNTER("jdk.MetaspaceSummary", "metaspace.used", "metaspace.committed"),
    COUNTER("jdk.ResidentSetSize", "size", "peak"),
    COUNTER("jdk.PhysicalMemory", "usedSize", "totalSize"),
    COUNTER("jdk.SwapSpace", "freeSize", "totalSize"),
    COUNTER("jdk.JavaThreadStatistics", "activeCount", "daemonCount"),
    COUNTER("jdk.ClassLoadingStatistics", "loadedClassCount", "unloadedClassCount"),
    COUNTER("jdk.ExceptionStatistics", "throwables"),
    KEYED_COUNTER("jdk.NetworkUtilization", "networkInterface", "readRate", "writeRate"),
    COUNTER("jdk.ThreadContextSwitchRate", "switchRate"),
    KEYED_COUNTER("jdk.CodeCacheStatistics", "codeBlobType", "unallocatedCapacity"),
    KEYED_COUNTER("jdk.ThreadAllocationStatistics", "thread", "allocated"),
    COUNTER("jdk.DirectBufferStatistics", "totalCapacity", "memoryUsed"),
    {.name = "jdk.ActiveSetting", .role = TV_JFR_SETTING, .title = "name"},
    {.name = "datadog.ProfilerSetting", .role = TV_JFR_SETTING, .title = "name"},
    {.name = "jdk.BooleanFlag", .role = TV_JFR_SETTING, .title = "name"},
    {.name = "jdk.DoubleFlag", .role = TV_JFR_SETTING, .title = "name"},
    {.name = "jdk.IntFlag", .role = TV_JFR_SETTING, .title = "name"},
    {.name = "jdk.LongFlag", .role = TV_JFR_SETTING, .title = "name"},
    {.name = "jdk.StringFlag", .role = TV_JFR_SETTING, .title = "name"},
    {.name = "jdk.UnsignedIntFlag", .role = TV_JFR_SETTING, .title = "name"},
    {.name = "jdk.UnsignedLongFlag", .role = TV_JFR_SETTING, .title = "name"},
    FACTS("jdk.JVMInformation"),
    FACTS("jdk.OSInformation"),
    FACTS("jdk.CPUInformation"),
    FACTS("jdk.CPUTimeStampCounter"),
    FACTS("jdk.VirtualizationInformation"),
    FACTS("jdk.ContainerConfiguration"),
    FACTS("jdk.GCConfiguration"),
    FACTS("jdk.GCHeapConfiguration"),
    FACTS("jdk.GCSurvivorConfiguration"),
    FACTS("jdk.GCTLABConfiguration"),
    FACTS("jdk.YoungGenerationConfiguration"),
    FACTS("jdk.CompilerConfiguration"),
    FACTS("jdk.CodeCacheConfiguration"),
    FACTS("jdk.CodeSweeperConfiguration"),
    FACTS("jdk.ActiveRecording"),
    {.name = "jdk.DataLoss", .role = TV_JFR_LOSS},
    {.name = "jdk.CPUTimeSamplesLost", .role = TV_JFR_LOSS},
    ON_TRACK("jdk.GarbageCollection", GC_TRACK, "name"),
    ON_TRACK("jdk.YoungGarbageCollection", GC_TRACK, NULL),
    ON_TRACK("jdk.OldGarbageCollection", GC_TRACK, NULL),
    ON_TRACK("jdk.G1GarbageCollection", GC_TRACK, "type"),
    ON_TRACK("jdk.ParallelOldGarbageCollection", GC_TRACK, NULL),
    ON_TRACK("jdk.GCPhasePause*", GC_TRACK, "name"),
    ON_TRACK("jdk.GCPhaseConcurrent*", GC_TRACK, "name"),
    ON_TRACK("jdk.Safepoint*", "Safepoints", NULL),
    ON_TRACK("jdk.ExecuteVMOperation", "VM operations", "operation"),
};

static bool event_kind_fits(const struct tv_jfr_event_kind *kind, struct tv_bytes name)
{
    struct tv_bytes wanted = tv_bytes_of(kind->name);
    if (wanted.data[wanted.length - 1] == '*')
        return tv_bytes_starts_with(name, (struct tv_bytes){wanted.data, wanted.length - 1});
    return tv_bytes_equal(name, wanted);
}

static const struct tv_jfr_event_kind *event_kind_find(struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(event_kinds); i++)
        if (event_kind_fits(&event_kinds[i], name))
            return &event_kinds[i];
    return NULL;
}

const struct tv_jfr_event_kind *tv_jfr_event_kind(struct tv_bytes name)
{
    static const struct tv_jfr_event_kind by_rule = {.role = TV_JFR_BY_RULE};
    static const struct tv_bytes early = {(const uint8_t *)"com.oracle.", 11};
    const struct tv_jfr_event_kind *kind = event_kind_find(name);
    /* Version 1.0 put com.oracle. before the names. */
    if (!kind && tv_bytes_starts_with(name, early))
        kind = event_kind_find(
            (struct tv_bytes){name.data + early.length, name.length - early.length});
    return kind ? kind : &by_rule;
}
