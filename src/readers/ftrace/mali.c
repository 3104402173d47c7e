/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters of Mali graphics processors (mali_hwc_*) by the names that Trace Viewer shows
 * (ftrace.md section 3); one that is not known is shown by its own. */
#include "base/bytes.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/events.h"

#define PREFIX "mali_hwc_"

/* "val=238" */
static enum tv_ft_taken handle_counter(struct tv_ft_part *part, const struct tv_ft_line *line,
                                       const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    double value;
    if (!tv_ft_arg_quantity(line->details, "val", &value))
        return TV_FT_MALFORMED;
    struct tv_bytes title = line->event;
    if (event->title)
        title = tv_bytes_of(event->title);
    struct tv_ft_counter counter = {TV_FT_NO_ID, tv_ft_text(part, title),
                                    tv_ft_text(part, tv_bytes_of(event->category)),
                                    tv_ft_text(part, tv_bytes_of(event->series))};
    tv_ft_count(part, at, &counter, value);
    return TV_FT_TAKEN;
}

/* The counters of one of the seven slots for jobs. */
static const struct {
    const char *name, *title, *series;
} slot_counters[] = {
    {"_JOBS", " Jobs", "count"},
    {"_TASKS", " Tasks", "count"},
    {"_ACTIVE", " Active", "cycles"},
    {"_WAIT_READ", " Wait Read", "cycles"},
    {"_WAIT_ISSUE", " Wait Issue", "cycles"},
    {"_WAIT_DEPEND", " Wait Depend", "cycles"},
    {"_WAIT_FINISH", " Wait Finish", "cycles"},
};

/* "mali_hwc_JS3_JOBS" */
static enum tv_ft_taken handle_slot(struct tv_ft_part *part, const struct tv_ft_line *line,
                                    const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes name = tv_ft_behind(line->event, "_JS");
    char title[32];
    (void)event;
    for (size_t i = 0; name.length > 1 && i < TV_COUNT(slot_counters); i++) {
        struct tv_bytes rest = {name.data + 1, name.length - 1}, slot = {name.data, 1};
        if (!tv_bytes_equal(rest, tv_bytes_of(slot_counters[i].name)))
            continue;
        size_t length = tv_ft_title(title, sizeof title - 16, "JM: JS*", slot);
        length += tv_ft_title(title + length, sizeof title - length, slot_counters[i].title, slot);
        struct tv_ft_event counter = {
            .title = title, .category = "mali:jm", .series = slot_counters[i].series};
        return handle_counter(part, line, at, &counter);
    }
    return TV_FT_INSTANT;
}

const struct tv_ft_event tv_ft_mali_slot = {.name = PREFIX "JS", .handle = handle_slot};

const struct tv_ft_event tv_ft_mali_other = {
    .name = PREFIX, .handle = handle_counter, .category = "mali", .series = "value"};

#define COUNTER(event, of, shown, counted)                                                         \
    {                                                                                              \
        .name = PREFIX event, .handle = handle_counter, .title = shown, .category = "mali:" of,    \
        .series = counted                                                                          \
    }
#define JM(event, title) COUNTER(event, "jm", "JM: " title, "count")
#define JM_CYCLES(event, title) COUNTER(event, "jm", "JM: " title, "cycles")
#define TILER(event, title) COUNTER(event, "tiler", "Tiler: " title, "count")
#define TILER_CYCLES(event, title) COUNTER(event, "tiler", "Tiler: " title, "cycles")
#define FRAGMENT(event, title) COUNTER(event, "fragment", "Fragment: " title, "count")
#define FRAGMENT_CYCLES(event, title) COUNTER(event, "fragment", "Fragment: " title, "cycles")
#define COMPUTE(event, title) COUNTER(event, "compute", "Compute: " title, "count")
#define COMPUTE_CYCLES(event, title) COUNTER(event, "compute", "Compute: " title, "cycles")
#define TRIPIPE_CYCLES(event, title) COUNTER(event, "shader", "Tripipe: " title, "cycles")
#define ARITH(event, title) COUNTER(event, "arith", "Arith: " title, "count")
#define ARITH_CYCLES(event, title) COUNTER(event, "arith", "Arith: " title, "cycles")
#define LS(event, title) COUNTER(event, "ls", "LS: " title, "count")
#define TEXTURE(event, title) COUNTER(event, "texture", "Texture: " title, "count")
#define LSC(event, title) COUNTER(event, "lsc", "LSC: " title, "count")
#define AXI(event, title) COUNTER(event, "axi", "AXI: " title, "count")
#define MMU(event, title) COUNTER(event, "mmu", "MMU: " title, "count")
#define MMU_CYCLES(event, title) COUNTER(event, "mmu", "MMU: " title, "cycles")
#define L2(event, title) COUNTER(event, "l2", "L2: " title, "count")
#define L2_CYCLES(event, title) COUNTER(event, "l2", "L2: " title, "cycles")

const struct tv_ft_event tv_ft_mali_events[] = {
    JM("MESSAGES_SENT", "Messages Sent"),
    JM("MESSAGES_RECEIVED", "Messages Received"),
    JM_CYCLES("GPU_ACTIVE", "GPU Active"),
    JM_CYCLES("IRQ_ACTIVE", "IRQ Active"),
    TILER("TRIANGLES", "Triangles"),
    TILER("QUADS", "Quads"),
    TILER("POLYGONS", "Polygons"),
    TILER("POINTS", "Points"),
    TILER("LINES", "Lines"),
    TILER("VCACHE_HIT", "VCache Hit"),
    TILER("VCACHE_MISS", "VCache Miss"),
    TILER("FRONT_FACING", "Front Facing"),
    TILER("BACK_FACING", "Back Facing"),
    TILER("PRIM_VISIBLE", "Prim Visible"),
    TILER("PRIM_CULLED", "Prim Culled"),
    TILER("PRIM_CLIPPED", "Prim Clipped"),
    TILER("WRBUF_HIT", "Wrbuf Hit"),
    TILER("WRBUF_MISS", "Wrbuf Miss"),
    TILER("WRBUF_LINE", "Wrbuf Line"),
    TILER("WRBUF_PARTIAL", "Wrbuf Partial"),
    TILER("WRBUF_STALL", "Wrbuf Stall"),
    TILER_CYCLES("ACTIVE", "Tiler Active"),
    TILER_CYCLES("INDEX_WAIT", "Index Wait"),
    TILER_CYCLES("INDEX_RANGE_WAIT", "Index Range Wait"),
    TILER_CYCLES("VERTEX_WAIT", "Vertex Wait"),
    TILER_CYCLES("PCACHE_WAIT", "Pcache Wait"),
    TILER_CYCLES("WRBUF_WAIT", "Wrbuf Wait"),
    TILER_CYCLES("BUS_READ", "Bus Read"),
    TILER_CYCLES("BUS_WRITE", "Bus Write"),
    TILER_CYCLES("TILER_UTLB_STALL", "Tiler UTLB Stall"),
    TILER_CYCLES("TILER_UTLB_HIT", "Tiler UTLB Hit"),
    FRAGMENT_CYCLES("FRAG_ACTIVE", "Active"),
    FRAGMENT("FRAG_PRIMATIVES", "Primitives"),
    FRAGMENT("FRAG_PRIMATIVES_DROPPED", "Primitives Dropped"),
    FRAGMENT_CYCLES("FRAG_CYCLE_DESC", "Descriptor Processing"),
    FRAGMENT_CYCLES("FRAG_CYCLES_PLR", "PLR Processing?\?"),
    FRAGMENT_CYCLES("FRAG_CYCLES_VERT", "Vertex Processing"),
    FRAGMENT_CYCLES("FRAG_CYCLES_TRISETUP", "Triangle Setup"),
    FRAGMENT_CYCLES("FRAG_CYCLES_RAST", "Rasterization?\??"),
    FRAGMENT("FRAG_THREADS", "Threads"),
    FRAGMENT("FRAG_DUMMY_THREADS", "Dummy Threads"),
    FRAGMENT("FRAG_QUADS_RAST", "Quads Rast"),
    FRAGMENT("FRAG_QUADS_EZS_TEST", "Quads EZS Test"),
    FRAGMENT("FRAG_QUADS_EZS_KILLED", "Quads EZS Killed"),
    FRAGMENT("FRAG_QUADS_LZS_TEST", "Quads LZS Test"),
    FRAGMENT("FRAG_QUADS_LZS_KILLED", "Quads LZS Killed"),
    FRAGMENT_CYCLES("FRAG_CYCLE_NO_TILE", "No Tiles"),
    FRAGMENT("FRAG_NUM_TILES", "Tiles"),
    FRAGMENT("FRAG_TRANS_ELIM", "Transactions Eliminated"),
    COMPUTE_CYCLES("COMPUTE_ACTIVE", "Active"),
    COMPUTE("COMPUTE_TASKS", "Tasks"),
    COMPUTE("COMPUTE_THREADS", "Threads Started"),
    COMPUTE_CYCLES("COMPUTE_CYCLES_DESC", "Waiting for Descriptors"),
    TRIPIPE_CYCLES("TRIPIPE_ACTIVE", "Active"),
    ARITH("ARITH_WORDS", "Instructions (/Pipes)"),
    ARITH_CYCLES("ARITH_CYCLES_REG", "Reg scheduling stalls (/Pipes)"),
    ARITH_CYCLES("ARITH_CYCLES_L0", "L0 cache miss stalls (/Pipes)"),
    ARITH("ARITH_FRAG_DEPEND", "Frag dep check failures (/Pipes)"),
    LS("LS_WORDS", "Instruction Words Completed"),
    LS("LS_ISSUES", "Full Pipeline Issues"),
    LS("LS_RESTARTS", "Restarts (unpairable insts)"),
    LS("LS_REISSUES_MISS", "Pipeline reissue (cache miss/uTLB)"),
    LS("LS_REISSUES_VD", "Pipeline reissue (varying data)"),
    LS("LS_REISSUE_ATTRIB_MISS", "Pipeline reissue (attribute cache miss)"),
    LS("LS_REISSUE_NO_WB", "Writeback not used"),
    TEXTURE("TEX_WORDS", "Words"),
    TEXTURE("TEX_BUBBLES", "Bubbles"),
    TEXTURE("TEX_WORDS_L0", "Words L0"),
    TEXTURE("TEX_WORDS_DESC", "Words Desc"),
    TEXTURE("TEX_THREADS", "Threads"),
    TEXTURE("TEX_RECIRC_FMISS", "Recirc due to Full Miss"),
    TEXTURE("TEX_RECIRC_DESC", "Recirc due to Desc Miss"),
    TEXTURE("TEX_RECIRC_MULTI", "Recirc due to Multipass"),
    TEXTURE("TEX_RECIRC_PMISS", "Recirc due to Partial Cache Miss"),
    TEXTURE("TEX_RECIRC_CONF", "Recirc due to Cache Conflict"),
    LSC("LSC_READ_HITS", "Read Hits"),
    LSC("LSC_READ_MISSES", "Read Misses"),
    LSC("LSC_WRITE_HITS", "Write Hits"),
    LSC("LSC_WRITE_MISSES", "Write Misses"),
    LSC("LSC_ATOMIC_HITS", "Atomic Hits"),
    LSC("LSC_ATOMIC_MISSES", "Atomic Misses"),
    LSC("LSC_LINE_FETCHES", "Line Fetches"),
    LSC("LSC_DIRTY_LINE", "Dirty Lines"),
    LSC("LSC_SNOOPS", "Snoops"),
    AXI("AXI_TLB_STALL", "Address channel stall"),
    AXI("AXI_TLB_MISS", "Cache Miss"),
    AXI("AXI_TLB_TRANSACTION", "Transactions"),
    AXI("LS_TLB_MISS", "LS Cache Miss"),
    AXI("LS_TLB_HIT", "LS Cache Hit"),
    AXI("AXI_BEATS_READ", "Read Beats"),
    AXI("AXI_BEATS_WRITE", "Write Beats"),
    MMU("MMU_TABLE_WALK", "Page Table Walks"),
    MMU("MMU_REPLAY_MISS", "Cache Miss from Replay Buffer"),
    MMU("MMU_REPLAY_FULL", "Replay Buffer Full"),
    MMU("MMU_NEW_MISS", "Cache Miss on New Request"),
    MMU("MMU_HIT", "Cache Hit"),
    MMU_CYCLES("UTLB_STALL", "UTLB Stalled"),
    MMU_CYCLES("UTLB_REPLAY_MISS", "UTLB Replay Miss"),
    MMU_CYCLES("UTLB_REPLAY_FULL", "UTLB Replay Full"),
    MMU_CYCLES("UTLB_NEW_MISS", "UTLB New Miss"),
    MMU_CYCLES("UTLB_HIT", "UTLB Hit"),
    L2("L2_READ_BEATS", "Read Beats"),
    L2("L2_WRITE_BEATS", "Write Beats"),
    L2("L2_ANY_LOOKUP", "Any Lookup"),
    L2("L2_READ_LOOKUP", "Read Lookup"),
    L2("L2_SREAD_LOOKUP", "Shareable Read Lookup"),
    L2("L2_READ_REPLAY", "Read Replayed"),
    L2("L2_READ_SNOOP", "Read Snoop"),
    L2("L2_READ_HIT", "Read Cache Hit"),
    L2("L2_CLEAN_MISS", "CleanUnique Miss"),
    L2("L2_WRITE_LOOKUP", "Write Lookup"),
    L2("L2_SWRITE_LOOKUP", "Shareable Write Lookup"),
    L2("L2_WRITE_REPLAY", "Write Replayed"),
    L2("L2_WRITE_SNOOP", "Write Snoop"),
    L2("L2_WRITE_HIT", "Write Cache Hit"),
    L2("L2_EXT_READ_FULL", "ExtRD with BIU Full"),
    L2("L2_EXT_READ_HALF", "ExtRD with BIU >1/2 Full"),
    L2("L2_EXT_WRITE_FULL", "ExtWR with BIU Full"),
    L2("L2_EXT_WRITE_HALF", "ExtWR with BIU >1/2 Full"),
    L2("L2_EXT_READ", "External Read (ExtRD)"),
    L2("L2_EXT_READ_LINE", "ExtRD (linefill)"),
    L2("L2_EXT_WRITE", "External Write (ExtWR)"),
    L2("L2_EXT_WRITE_LINE", "ExtWR (linefill)"),
    L2("L2_EXT_WRITE_SMALL", "ExtWR (burst size <64B)"),
    L2("L2_EXT_BARRIER", "External Barrier"),
    L2("L2_EXT_AR_STALL", "Address Read stalls"),
    L2("L2_EXT_R_BUF_FULL", "Response Buffer full stalls"),
    L2("L2_EXT_RD_BUF_FULL", "Read Data Buffer full stalls"),
    L2("L2_EXT_R_RAW", "RAW hazard stalls"),
    L2("L2_EXT_W_STALL", "Write Data stalls"),
    L2("L2_EXT_W_BUF_FULL", "Write Data Buffer full"),
    L2("L2_EXT_R_W_HAZARD", "WAW or WAR hazard stalls"),
    L2("L2_TAG_HAZARD", "Tag hazard replays"),
    L2_CYCLES("L2_SNOOP_FULL", "Snoop buffer full"),
    L2_CYCLES("L2_REPLAY_FULL", "Replay buffer full"),
    {.name = NULL},
};
