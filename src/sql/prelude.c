/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prelude.c - the views, macros and tables of every database, as one list of statements.
 *
 *     tables.c                   here                          a user's query
 *     any_slice, any_sample,     slice, sched, thread_state,   select name, dur from slice ...
 *     thread, track, frame ...   args, thread_slice ...
 *
 * The tables are functions in C over the model, in the words of the model.  The views give them the
 * names and columns of Perfetto's trace processor, so that queries written for it run here.  A view
 * is made when a query names it (views.c).
 *
 * A view may use only what is before it.
 */
#include <string.h>

#include "sql/sql.h"

/* kind_id is enum tv_track_kind: 0 thread, 1 overflow, 2 async, 3 processor, 4 states; 100 is an
 * instant (tables.c). */
const char *const tv_sql_prelude[] = {
    "create macro tv_idle_utid() as (select min(utid) from thread where is_idle)",
    "create macro slice_kind(k) as case k when 2 then 'async' when 100 then 'instant' else 'slice' "
    "end",
    "create view slice as select * exclude (kind_id, event, length, is_recursive, waker_utid, "
    "blocked_function, io_wait, state, end_state, cpu, ucpu, priority), slice_kind(kind_id) as "
    "kind, id as slice_id, category as cat from tv_slice()",
    "create macro slice_in(t0, t1) as table select * exclude (kind_id, event, length, "
    "is_recursive, waker_utid, blocked_function, io_wait, state, end_state, cpu, ucpu, priority), "
    "slice_kind(kind_id) as kind, id "
    "as slice_id, category as cat, least(case when "
    "dur < 0 then (select end_ts from trace_bounds) else ts + dur end, t1) - greatest(ts, t0) as "
    "clipped_dur from tv_slice_in(t0, t1)",
    "create view slices as select * from slice",
    "create view track_slice as select columns(c -> c not in ('utid', 'upid')) from slice",
    "create view instant as select * from slice where kind = 'instant'",
    "create view track_instant as select columns(c -> c not in ('utid', 'upid')) from instant",
    "create view bare_track as select columns(c -> c not in ('utid', 'upid')) from track",
    "create view bare_counter_track as select columns(c -> c <> 'upid') from counter_track",
    "create view counters as select c.*, t.name, t.unit from counter c join counter_track t on "
    "c.track_id = t.id",
    "create view sched as select s.id, s.ts, s.dur, try_cast(regexp_extract(t.name, '[0-9]+') as "
    "bigint) as cpu, r.utid, s.name, r.end_state, s.priority, "
    "t.machine_id * 4096 + try_cast(regexp_extract(t.name, '[0-9]+') as bigint) as ucpu from "
    "any_slice s join "
    "track t on s.track_id = t.id left join any_slice r on r.kind_id = 4 and r.ts = s.ts and "
    "r.event = s.event and r.name = 'Running' where s.kind_id = 3",
    "create view sched_slice as select * from sched",
    "create view thread_state as select id, ts, dur, cpu, utid, state, io_wait, blocked_function, "
    "waker_utid, ucpu, name as state_name from any_slice where kind_id = 4",
    "create view thread_track as select id, name, utid, machine_id from track where type = "
    "'thread_track'",
    "create view process_track as select id, name, upid, machine_id from track where type = "
    "'async_track' and upid is not null",
    "create view async_track as select * from track where type not in ('thread_track', "
    "'cpu_track', 'state_track') and id not in (select id from counter_track)",
    /* Interrupts of a processor are slices of a line of its own. */
    "create view cpu_track as select id, name, type, try_cast(regexp_extract(name, '[0-9]+') as "
    "bigint) as cpu, machine_id from tv_track() where type = 'cpu_track' union all select t.id, "
    "h.name, 'cpu_irq', try_cast(regexp_extract(h.name, ' cpu ([0-9]+)$', 1) as bigint), "
    "t.machine_id from tv_track() t join tv_thread() h on t.utid = h.utid and t.type = "
    "'thread_track' where h.tid = 0 and regexp_matches(h.name, '^(soft)?irqs cpu [0-9]+$')",
    "create view process_counter_track as select * from counter_track where upid is not null",
    /* Perfetto's names of what processors count: "CPU 3 Clock Frequency" is cpufreq of cpu 3. */
    "create macro tv_cpu_counter(n) as case regexp_replace(n, '^CPU [0-9]+ ', '') when 'Clock "
    "Frequency' then 'cpufreq' when 'C-State' then 'cpuidle' else regexp_replace(n, '^CPU [0-9]+ "
    "', '') end",
    "create view cpu_counter_track as select * replace (tv_cpu_counter(name) as name), "
    "try_cast(regexp_extract(name, '[0-9]+') as bigint) as cpu, machine_id * 4096 + "
    "try_cast(regexp_extract(name, '[0-9]+') as bigint) as ucpu from counter_track where name "
    "ilike 'cpu %'",
    /* Processors of another machine than the first have numbers from 4096 on, as in Perfetto. */
    "create view cpu as with tv_told as (select try_cast(substr(name, 5) as bigint) as cpu, "
    "machine_id, regexp_extract(str_value, '^(.*), cluster ([0-9]+)(?:, capacity ([0-9]+))?$', "
    "['processor', "
    "'cluster', 'capacity']) as f from metadata where regexp_matches(name, '^cpu [0-9]+$')) select "
    "machine_id * 4096 + cpu as id, cpu, machine_id * 4096 + cpu as ucpu, try_cast(f.cluster as "
    "bigint) as cluster_id, try_cast(f.capacity as bigint) as capacity, f.processor as processor, "
    "machine_id from (select cpu, machine_id from cpu_track union select cpu, machine_id from "
    "cpu_counter_track union select cpu, machine_id from tv_told) left join tv_told using (cpu, "
    "machine_id) where cpu is not null order by id",
    "create view sample as select * exclude (first_id) from any_sample",
    "create view perf_sample as select id, ts, utid, cpu, callsite_id from any_sample where "
    "first_id = id and value_type not in ('alloc_objects', 'alloc_space', 'inuse_objects', "
    "'inuse_space')",
    "create view stack_profile_callsite as select id, depth, parent_id, frame_id from path",
    /* The address of a frame is known as far as its name tells it: "libc.so+0x1234". */
    "create view stack_profile_frame as select id, name, module as mapping, try_cast("
    "nullif(regexp_extract(name, '[+](0x[0-9a-f]+)$', 1), '') as bigint) as rel_pc, case when file "
    "is not null then id end as symbol_set_id, null::varchar as deobfuscated_name, "
    "coalesce(lower(kind), category) as type from frame",
    "create view stack_profile_mapping as select distinct module as id, null::varchar as build_id, "
    "module as name from frame where module is not null",
    "create view stack_profile_symbol as select id, id as symbol_set_id, name, file as "
    "source_file, line as line_number from frame where file is not null",
    /* Bytes and objects that a stack allocated, and those freed again (negative). */
    "create view heap_profile_allocation as with tv_heap as (select min(s.id) as id, s.ts, t.upid, "
    "s.callsite_id, sum(s.weight) filter (s.value_type = 'alloc_objects') as made, sum(s.weight) "
    "filter (s.value_type = 'alloc_space') as made_size, sum(s.weight) filter (s.value_type = "
    "'inuse_objects') as kept, sum(s.weight) filter (s.value_type = 'inuse_space') as kept_size "
    "from any_sample s left join thread t using (utid) where s.value_type in ('alloc_objects', "
    "'alloc_space', 'inuse_objects', 'inuse_space') and s.callsite_id is not null group by s.ts, "
    "t.upid, s.callsite_id) select "
    "id, ts, upid, callsite_id, made as count, made_size as size from tv_heap where made_size is "
    "not null union all select id + 1, ts, upid, callsite_id, kept - made, kept_size - made_size "
    "from tv_heap where kept_size <> made_size",
    /* Perfetto's modules linux.perf.samples and android.memory.heap_profile.summary_tree: the tree
     * of all calls, with the figures of a call alone and with what it calls. */
    "create view linux_perf_samples_summary_tree as with recursive tv_own as (select callsite_id "
    "as id, count(*) as n from perf_sample where callsite_id is not null group by 1), tv_up as "
    "(select id, n, n as own from tv_own union all select p.parent_id, u.n, 0 from tv_up u join "
    "path p on u.id = p.id where p.parent_id is not null), tv_sum as (select id, sum(own)::bigint "
    "as self_count, sum(n)::bigint as cumulative_count from tv_up group by id) select s.id, "
    "p.parent_id, p.name, f.module as mapping_name, f.file as source_file, f.line as line_number, "
    "self_count, cumulative_count from tv_sum s join path p on s.id = p.id join frame f on "
    "p.frame_id = f.id",
    "create view android_heap_profile_summary_tree as with recursive tv_own as (select callsite_id "
    "as id, coalesce(sum(weight) filter (value_type = 'inuse_space'), 0) as kept, "
    "coalesce(sum(weight) filter (value_type = 'alloc_space'), 0) as made from any_sample where "
    "callsite_id is not null and value_type in ('inuse_space', 'alloc_space') group by 1), tv_up "
    "as (select id, kept, made, kept as own_kept, made as own_made from tv_own union all select "
    "p.parent_id, u.kept, u.made, 0, 0 from tv_up u join path p on u.id = p.id where p.parent_id "
    "is not null), tv_sum as (select id, sum(own_kept)::bigint as self_size, sum(kept)::bigint as "
    "cumulative_size, sum(own_made)::bigint as self_alloc_size, sum(made)::bigint as "
    "cumulative_alloc_size from tv_up group by id) select s.id, p.parent_id, p.name, f.module as "
    "mapping_name, f.file as source_file, f.line as line_number, self_size, cumulative_size, "
    "self_alloc_size, cumulative_alloc_size from tv_sum s join path p on s.id = p.id join frame f "
    "on p.frame_id = f.id",
    "create view android_logs as select id, ts, utid, strpos('??VDIWEF', right(category, 1)) - 1 "
    "as prio, split_part(name, ': ', 1) as tag, substr(name, length(split_part(name, ': ', 1)) + "
    "3) as msg from any_slice where kind_id = 100 and category like 'log._'",
    /* States of tracks, and those of recording sessions.  The event tells that a slice is one. */
    "create view state as select id, ts, case when dur < 0 then -1 else dur end as dur, track_id, "
    "category, name as value, arg_set_id from any_slice where kind_id = 2 and (category = "
    "'concurrent_tracing_sessions' or json_extract_string(tv_event(id), "
    "'$.packet.track_event.type') = 'TYPE_STATE')",
    "create view package_list as select substr(name, 9) as package_name, "
    "try_cast(regexp_extract(str_value, 'uid ([0-9]+)', 1) as bigint) as uid, str_value like '%, "
    "debuggable%' as debuggable, str_value like '%, profileable%' as profileable_from_shell, "
    "try_cast(regexp_extract(str_value, 'version (-?[0-9]+)', 1) as bigint) as version_code from "
    "metadata where name like 'package %'",
    "create view thread_slice as select s.*, t.name as thread_name, t.tid, p.name as process_name, "
    "p.pid from slice s join thread t using (utid) left join process p on t.upid = p.upid",
    "create view process_slice as select s.*, p.name as process_name, p.pid from slice s join "
    "process p on s.upid = p.upid",
    "create view thread_or_process_slice as select s.*, t.name as thread_name, t.tid, p.name as "
    "process_name, p.pid from slice s left join thread t using (utid) left join process p on "
    "s.upid = p.upid",
    "create view frames as select f.*, t.name as thread_name, t.tid, p.name as process_name, p.pid "
    "from display_frame f left join thread t using (utid) left join process p on f.upid = p.upid",
    /* Callers and callees of all calls of threads. */
    "create view edge as select a.frame_id as caller_id, b.frame_id as callee_id, count(*) as "
    "calls, sum(s.length)::bigint as wall, sum(s.thread_dur)::bigint as cpu from any_slice s join "
    "path b on s.path_id = b.id join path a on b.parent_id = a.id where s.kind_id in (0, 1) group "
    "by all",
    "create view slice_self_dur as select id, self_dur from slice",
    /* A call within another one of the same method adds nothing to `incl`, as in `profile`, and
     * is not in `calls`.  `length` is NULL where an input has CPU times alone. */
    "create view method as select frame_id, any_value(name) as name, any_value(class) as class, "
    "any_value(signature) as signature, count(*) filter (not is_recursive) as calls, count(*) "
    "filter (is_recursive) as recursive_calls, sum(length) filter (not is_recursive)::bigint as "
    "incl, sum(self_dur) filter (length is not null)::bigint as excl, sum(thread_dur) filter (not "
    "is_recursive)::bigint as incl_cpu, sum(self_thread_dur)::bigint as excl_cpu, "
    "min(coalesce(length, thread_dur)) as min, max(coalesce(length, thread_dur)) as max, "
    "quantile_disc(coalesce(length, thread_dur), 0.5) as median, "
    "quantile_disc(coalesce(length, thread_dur), 0.95) as p95 from any_slice where "
    "kind_id in (0, 1) group by frame_id",
    /* Perfetto's modules sched.runnable, slices.time_in_state, slices.cpu_time, linux.cpu. */
    "create view sched_previous_runnable_on_thread as select id, prev_runnable_id, "
    "prev_wakeup_runnable_id from (select id, state, max(id) filter (state != 'Running') over "
    "utids as prev_runnable_id, max(id) filter (waker_utid is not null) over utids as "
    "prev_wakeup_runnable_id from thread_state where state in ('R', 'R+', 'Running') and dur != -1 "
    "window utids as (partition by utid order by id)) where state = 'Running'",
    "create view thread_slice_time_in_state as select s.id, any_value(s.name) as name, s.utid, "
    "any_value(s.thread_name) as thread_name, any_value(s.upid) as upid, any_value(s.process_name) "
    "as process_name, t.state, t.io_wait, t.blocked_function, sum(least(s.ts + s.dur, t.ts + "
    "t.dur) - greatest(s.ts, t.ts))::bigint as dur from thread_slice s join thread_state t on "
    "s.utid = t.utid and t.ts < s.ts + s.dur and t.ts + t.dur > s.ts where s.dur > 0 and t.dur > 0 "
    "group by s.id, s.utid, t.state, t.io_wait, t.blocked_function",
    "create view thread_slice_cpu_time as select s.id, any_value(s.name) as name, s.utid, "
    "any_value(s.thread_name) as thread_name, any_value(s.upid) as upid, any_value(s.process_name) "
    "as process_name, sum(least(s.ts + s.dur, t.ts + t.dur) - greatest(s.ts, t.ts))::bigint as "
    "cpu_time from thread_slice s join thread_state t on s.utid = t.utid and t.ts < s.ts + s.dur "
    "and t.ts + t.dur > s.ts where t.state = 'Running' and s.dur > 0 and t.dur > 0 group by s.id, "
    "s.utid",
    "create view cpu_frequency_counters as select c.id, c.track_id, c.ts, coalesce(lead(c.ts) over "
    "(partition by c.track_id order by c.ts, c.id), (select end_ts from trace_bounds)) - c.ts as "
    "dur, c.value::bigint as freq, t.ucpu, t.cpu from (select *, lag(value) over (partition "
    "by track_id order by ts, id) as before from counter) c join cpu_counter_track t on c.track_id "
    "= t.id where t.name = 'cpufreq' and (c.before is null or c.before <> c.value)",
    "create macro cpu_utilization_per_period(period) as table with tv_runs as (select ts, case "
    "when dur < 0 then (select end_ts from trace_bounds) else ts + dur end as ends, (select "
    "period) as p from sched where utid is not null), tv_parts as (select ts, ends, p, "
    "unnest(range(ts // p, (ends - 1) // p + 1)) as number from tv_runs where ends > ts) select "
    "number * any_value(p) as ts, sum(least(ends, (number + 1) * p) - greatest(ts, number * p)) / "
    "any_value(p)::double / (select max(cpu) + 1 from cpu) as utilization, sum(least(ends, (number "
    "+ 1) * p) - greatest(ts, number * p)) / any_value(p)::double as unnormalized_utilization from "
    "tv_parts group by number order by number",
    "create view cpu_utilization_per_second as select * from "
    "cpu_utilization_per_period(1000000000)",
    "create macro extract_metadata(key) as (select m.text from (select name as word, "
    "coalesce(str_value, int_value::varchar) as text from metadata) m where m.word = key limit 1)",
    "create macro extract_metadata_for_machine(machine, key) as (select m.text from (select name "
    "as word, coalesce(str_value, int_value::varchar) as text, machine_id as of from metadata) m "
    "where m.word = key and m.of = machine limit 1)",
    "create macro tv_fact(words, texts, word) as list_extract(texts, list_position(words, word))",
    "create view machine as select machine_id as id, coalesce(try_cast(tv_fact(k, v, "
    "'machine_raw_id') as bigint), 0) as raw_id, null::varchar as name, tv_fact(k, v, "
    "'system_name') as sysname, tv_fact(k, v, 'system_release') as release, tv_fact(k, v, "
    "'system_version') as version, tv_fact(k, v, 'system_machine') as arch, try_cast(tv_fact(k, v, "
    "'system_num_cpus') as bigint) as num_cpus, tv_fact(k, v, 'android_build_fingerprint') as "
    "android_build_fingerprint, tv_fact(k, v, 'android_device_manufacturer') as "
    "android_device_manufacturer, try_cast(tv_fact(k, v, 'android_sdk_version') as bigint) as "
    "android_sdk_version, try_cast(tv_fact(k, v, 'system_ram_bytes') as bigint) as "
    "system_ram_bytes, round(try_cast(tv_fact(k, v, 'system_ram_bytes') as bigint) / 1e9)::bigint "
    "as system_ram_gb, machine_id as label_index from (select machine_id, list(name) as k, "
    "list(str_value) as v from metadata where machine_id is not null group by machine_id union all "
    "select 0, [], [] where not "
    "exists (from metadata where machine_id = 0)) order by id",
    "create macro trace_start() as (select start_ts from trace_bounds)",
    "create macro trace_end() as (select end_ts from trace_bounds)",
    "create macro trace_dur() as (select end_ts - start_ts from trace_bounds)",
    "create macro sched_state_to_human_readable_string(s) as case s when 'R' then 'Runnable' when "
    "'R+' then 'Runnable (Preempted)' when 'S' then 'Sleeping' when 'D' then 'Uninterruptible "
    "Sleep' when 'T' then 'Stopped' when 't' then 'Traced' when 'X' then 'Exit (Dead)' when 'Z' "
    "then 'Exit (Zombie)' when 'x' then 'Task Dead' when 'K' then 'Wake Kill' when 'W' then "
    "'Waking' when 'P' then 'Parked' when 'I' then 'Idle' else s end",
    "create macro time_to_ms(t) as t / 1000000",
    "create macro time_to_us(t) as t / 1000",
    "create macro time_to_s(t) as t / 1000000000",
    "create macro time_to_ns(t) as t",
    "create macro time_to_min(t) as t / 60000000000",
    "create macro time_from_us(t) as t * 1000",
    "create macro time_from_ms(t) as t * 1000000",
    "create macro time_from_s(t) as t * 1000000000",
    "create macro iif(a, b, c) as case when a then b else c end",
    "create macro percentile(x, p) as quantile_cont(x, p / 100.0)",
    "create macro total(x) as coalesce(sum(x), 0)::double",
    /* Perfetto's gives a number of 64 bits; DuckDB's own one gives bytes. */
    "create macro tv_unhex(u) as case when u < 9223372036854775808 then u else u - "
    "18446744073709551616 end::bigint",
    "create macro unhex(t) as case when t is null or regexp_full_match(t, "
    "'(0[xX])?0*[0-9a-fA-F]{1,16}') then tv_unhex(('0x' || regexp_replace(t, '^0[xX]', ''))"
    "::ubigint::hugeint) else error('unhex: ''' || left(t, 40) || ''' is not a hexadecimal "
    "number of 64 bits or fewer') end",
    "create macro str_split(s, sep, n) as string_split(s, sep)[n + 1]",
    "create macro arg_path(key) as '$.' || regexp_replace('\"' || replace(key, '.', '\".\"') || "
    "'\"', '((?:\\[[0-9]+\\])+)\"', '\"\\1', 'g')",
    "create macro arg_of(event, key) as coalesce(json_extract_string(event, arg_path(key)), "
    "json_extract_string(event, arg_path('args.' || regexp_replace(key, '^debug\\.', ''))), "
    "json_extract_string(event, arg_path('packet.track_event.' || key)))",
    "create macro extract_arg(arg_set_id, key) as arg_of(tv_event(arg_set_id), key)",
    "create macro tv_context_id(x) as (hash(x) >> 12)::bigint",
    /* The place of a stack sample, as it and the packets before it tell. An id is that of the
     * content: equal contexts are one. */
    "create view tv_contexts as select s.*, t.upid, t.machine_id, arg_of(e, 'source') as source, "
    "arg_of(e, 'task.tid') as tid, json_exists(e, '$.task') as has_task, json_exists(e, "
    "'$.execution') as has_execution, lower(substr(arg_of(e, 'execution.mode'), 6)) as cpu_mode, "
    "from_json(json_extract(e, '$.async'), '[\"json\"]') as asyncs from (select * exclude "
    "(first_id), tv_event(arg_set_id) as e from any_sample where first_id = id) s left join "
    "tv_thread() t using (utid)",
    "create view tv_stack_sample as select id, ts, utid, upid, cpu, callsite_id, value_type, "
    "unit, weight, leaf, arg_set_id, source, machine_id, cpu_mode, asyncs, case when has_task "
    "then tv_context_id([utid::varchar, tid, asyncs::varchar]) end as task_context_id, tid, case "
    "when has_execution then tv_context_id([cpu::varchar, cpu_mode]) end as execution_context_id "
    "from tv_contexts",
    "create view stack_sample as select id, ts, utid, cpu, callsite_id, weight, leaf, arg_set_id, "
    "source, task_context_id, execution_context_id from tv_stack_sample",
    "create view stack_sample_task_context as select distinct task_context_id as id, case when "
    "tid is not null then utid end as utid, upid, case when len(asyncs) > 0 then "
    "tv_context_id(asyncs::varchar[]) end as async_context_id from tv_stack_sample where "
    "task_context_id is not null",
    "create view stack_sample_execution_context as select distinct execution_context_id as id, "
    "machine_id * 4096 + cpu as ucpu, cpu_mode from tv_stack_sample where execution_context_id is "
    "not null",
    "create view stack_sample_async_context as select distinct tv_context_id(l::varchar[]) as id, "
    "l[1] ->> '$.name' as name, l[1] ->> '$.kind' as kind, case when len(l) > 1 then "
    "tv_context_id(l[2:]::varchar[]) end as parent_id from (select asyncs[n:] as l from (select "
    "asyncs, unnest(range(1, len(asyncs) + 1)) as n from tv_stack_sample where asyncs is not "
    "null))",
    /* Perfetto's sessions: of a profiler and what it samples by, and of perf. */
    "create view stack_sample_session as select distinct tv_context_id([source, value_type, "
    "unit]) as id, source, value_type as timebase_name, case unit when 'nanoseconds' then 'ns' "
    "else unit end as timebase_unit from tv_stack_sample where source is not null",
    /* Each value of a sample, by its type. */
    "create view stack_sample_counter as select id, first_id as stack_sample_id, "
    "tv_context_id([value_type, unit]) as track_id, weight as "
    "value from any_sample",
    "create view stack_sample_counter_track as select distinct tv_context_id([value_type, unit]) "
    "as id, value_type as name, case unit when 'nanoseconds' then 'ns' else unit end as unit from "
    "any_sample",
    /* Packets of Perfetto traces, with their fields as JSON. */
    "create view tv_said as select id, type, input, machine_id, sequence_id, tv_event(arg_set_id) "
    "-> '$.args' as j from packet",
    /* The clocks of each snapshot; `ts` is where BOOTTIME places it. */
    "create view clock_snapshot as with tv_c as (select p.id as snapshot_id, p.machine_id, "
    "(c.value ->> '$.clock_id')::bigint as clock_id, (c.value ->> '$.timestamp')::bigint * "
    "coalesce((c.value ->> '$.unit_multiplier_ns')::bigint, 1) as clock_value from tv_said p, "
    "json_each(p.j -> '$.clocks') c where p.type = 'clock_snapshot') select row_number() over "
    "(order by snapshot_id, clock_id) - 1 as id, max(clock_value) filter (clock_id = 6) over "
    "(partition by snapshot_id) - (select origin from tv_trace_bounds()) as ts, clock_id, "
    "['REALTIME', 'REALTIME_COARSE', 'MONOTONIC', 'MONOTONIC_COARSE', 'MONOTONIC_RAW', "
    "'BOOTTIME'][clock_id] as clock_name, clock_value, snapshot_id, machine_id from tv_c",
    /* The last snapshot before a time tells it on another clock; before all, the first one. */
    "create macro tv_on_clock(t, clock) as (select t + tv_s.clock_value - tv_s.ts from "
    "clock_snapshot tv_s where tv_s.clock_id = clock and tv_s.ts is not null and tv_s.machine_id "
    "= 0 order by tv_s.ts > t, abs(tv_s.ts - t) limit 1)",
    "create macro to_realtime(t) as tv_on_clock(t, 1)",
    "create macro to_monotonic(t) as tv_on_clock(t, 3)",
    /* Statistics of the recording service about its buffers, under Perfetto's names; the last
     * packet counts. Losses are those of the packets, unless the service counted them itself. */
    "create view tv_service_stats as with tv_s as (select input, machine_id, j from tv_said where "
    "type = 'trace_stats' qualify row_number() over (partition by input order by id desc) = 1), "
    "tv_b as (select s.input, s.machine_id, b.key::bigint as idx, b.value as j from tv_s s, "
    "json_each(s.j -> '$.buffer_stats') b), tv_w as (select s.input, s.machine_id, "
    "coalesce(try_cast(w.value ->> '$.buffer' as bigint), 0) as idx, try_cast(w.value ->> "
    "'$.sequence_id' as bigint) as sequence_id from tv_s s, json_each(s.j -> '$.writer_stats') "
    "w), tv_q as (select w.input, w.machine_id, w.idx, sum(losses) as "
    "traced_buf_sequence_packet_loss, count(*) filter (needing_state > 0 and without_state = "
    "needing_state) as traced_buf_incremental_sequences_dropped, sum(read_gap) as "
    "traced_buf_data_loss_read_gap, sum(chunk_corrupted) as traced_buf_data_loss_chunk_corrupted, "
    "sum(orphan_continuation) as traced_buf_data_loss_orphan_continuation, sum(reassembly_gap) as "
    "traced_buf_data_loss_reassembly_gap, sum(reassembly_broken_chain) as "
    "traced_buf_data_loss_reassembly_broken_chain, sum(overwrite) as "
    "traced_buf_data_loss_overwrite, sum(writer_abort) as traced_buf_data_loss_writer_abort, "
    "sum(smb_full) as traced_buf_data_loss_smb_full from tv_w w join packet_sequence q using "
    "(input, sequence_id) group by all), tv_n as ( select 'traced_' || k.key as name, "
    "null::bigint as idx, try_cast(k.value as bigint) as value, s.input, s.machine_id, 0 as nth "
    "from tv_s s, json_each(s.j) k where k.type in ('UBIGINT', 'BIGINT') union all select "
    "'filter_' || k.key, null, try_cast(k.value as bigint), s.input, s.machine_id, 0 from tv_s s, "
    "json_each(s.j -> '$.filter_stats') k where k.type in ('UBIGINT', 'BIGINT') union all select "
    "'traced_buf_bytes_filtered_out', k.key::bigint, try_cast(k.value as bigint), s.input, "
    "s.machine_id, 0 from tv_s s, json_each(s.j -> '$.filter_stats.bytes_discarded_per_buffer') k "
    "union all select lower('traced_' || (j ->> '$.final_flush_outcome')), null, 1, input, "
    "machine_id, 0 from tv_s where (j ->> '$.final_flush_outcome') in ('FINAL_FLUSH_SUCCEEDED', "
    "'FINAL_FLUSH_FAILED') union all select 'traced_buf_' || k.key, b.idx, try_cast(k.value as "
    "bigint), b.input, b.machine_id, 0 from tv_b b, json_each(b.j) k where k.type in ('UBIGINT', "
    "'BIGINT') union all select name, idx, value::bigint, input, machine_id, 1 from (unpivot tv_q "
    "on columns(* exclude (input, machine_id, idx)) into name name value value)) select * exclude "
    "(nth) from tv_n qualify row_number() over (partition by input, name, idx order by nth) = 1",
    /* Some diagnostics are also there by the name of the same statistic of Perfetto. */
    "create view stats as select name, null::varchar as key, null::bigint as idx, severity, "
    "'analysis' as source, value, description, null::bigint as machine_id, null::bigint as "
    "trace_id from diagnostic union all select case name when 'task-state-order' then "
    "'generic_task_state_invalid_order' when 'time-overflow' then 'track_event_invalid_timestamp' "
    "else 'gpu_counters_missing_timestamp' end, null, null, 'error', case name when "
    "'counter-no-time' then 'trace' else 'analysis' end, value, description, null, null from "
    "diagnostic where name in ('task-state-order', 'time-overflow', 'counter-no-time') union all "
    "select name, null, idx, case when name like 'traced_buf_data_loss_%' or name in "
    "('traced_buf_abi_violations', 'traced_buf_patches_failed', "
    "'traced_buf_trace_writer_packet_loss', 'traced_buf_sequence_packet_loss', "
    "'traced_buf_incremental_sequences_dropped', 'traced_final_flush_failed', "
    "'traced_flushes_failed') then 'data_loss' when name = 'filter_errors' then 'error' else "
    "'info' end, case when name in ('traced_buf_sequence_packet_loss', "
    "'traced_buf_incremental_sequences_dropped') then 'analysis' else 'trace' end, value, null, "
    "machine_id, input from tv_service_stats",
    /* Faults of a recording's configuration, by the rules and keys of Perfetto's trace_diagnostics.
     */
    "create view tv_config as select input, machine_id, j from tv_said where type = "
    "'trace_config' qualify row_number() over (partition by input order by id desc) = 1",
    "create view tv_source_config as select c.input, c.machine_id, c.j as whole, d.value -> "
    "'$.config' as d from tv_config c, json_each(c.j -> '$.data_sources') d",
    "create view tv_ftrace_fault as with tv_f as (select input, machine_id, f, try_cast(f ->> "
    "'$.buffer_size_kb' as bigint) as kb, try_cast(f ->> '$.drain_period_ms' as bigint) as ms, "
    "coalesce(f ->> '$.symbolize_ksyms', '') = 'true' as names, coalesce(from_json(f -> "
    "'$.ftrace_events', '[\"varchar\"]'), []) as events from (select input, machine_id, (d -> "
    "'$.ftrace_config') as f from tv_source_config) where f is not null) select distinct f.input, "
    "f.machine_id, 'preserve_ftrace_buffer_late_start' as key, 'what the kernel had in its "
    "buffers was kept, and the recording began more than five minutes after the start of the "
    "device: the first events may be old' as description, 'leave out preserve_ftrace_buffer' as "
    "remediation from tv_f f join packet p using (input) where (f.f ->> "
    "'$.preserve_ftrace_buffer') = 'true' and p.type = 'service_event' and p.timestamp between "
    "300000000001 and 1000000000000000000 and extract_arg(p.arg_set_id, 'tracing_started') = "
    "'true' union all select input, machine_id, 'tiny_ftrace_buffer', 'the kernel has a buffer of "
    "' || kb || ' KB for each processor: less than 1 MB loses events under load', 'leave out "
    "buffer_size_kb, or give 1024 or more' from tv_f where kb between 1 and 1023 union all select "
    "input, machine_id, 'low_ftrace_drain_bandwidth', 'a buffer of ' || kb || ' KB that is read "
    "every ' || ms || ' ms takes less than 5 MB/s', 'leave out buffer_size_kb and "
    "drain_period_ms, or read larger buffers more often' from tv_f where kb > 0 and ms > 0 and kb "
    "* 1000 < ms * 5120 union all select input, machine_id, 'extreme_ftrace_drain_period', "
    "'buffers are read every ' || ms || ' ms, which is not between 100 and 60000', 'leave out "
    "drain_period_ms' from tv_f where ms < 100 or ms > 60000 union all select input, machine_id, "
    "'syscalls_without_filter', 'every system call is recorded', 'name those that you need in "
    "syscall_events' from tv_f where list_has_any(events, ['raw_syscalls/sys_enter', "
    "'raw_syscalls/sys_exit']) and (f -> '$.syscall_events') is null union all select input, "
    "machine_id, 'function_graph_requires_symbolize_ksyms', 'functions of the kernel are recorded "
    "as addresses, which nothing names later', 'set symbolize_ksyms' from tv_f where (f ->> "
    "'$.enable_function_graph') = 'true' and not names union all select input, machine_id, "
    "'events_require_symbolize_ksyms', 'functions in events of the kernel are recorded as "
    "addresses, which nothing names later', 'set symbolize_ksyms' from tv_f where "
    "list_has_any(events, ['workqueue/workqueue_execute_start', 'sched/sched_blocked_reason']) "
    "and not names",
    "create view trace_diagnostics as with tv_r as (select * from tv_ftrace_fault union all "
    "select input, machine_id, 'discard_buffer_for_streaming', (d ->> '$.name') || ' writes to a "
    "buffer that takes nothing more once it is full, while the trace is written to a file', "
    "'leave out fill_policy' from tv_source_config where (whole ->> '$.write_into_file') = 'true' "
    "and coalesce(try_cast(whole ->> '$.file_write_period_ms' as bigint), 0) < 604800000 and (d "
    "->> '$.name') in ('linux.ftrace', 'track_event') and json_extract_string(whole, '$.buffers[' "
    "|| coalesce(d ->> '$.target_buffer', '0') || '].fill_policy') = 'DISCARD' union all select "
    "input, machine_id, 'heapprofd_sampling_interval_too_low', 'an allocation is sampled every ' "
    "|| (d ->> '$.heapprofd_config.sampling_interval_bytes') || ' bytes: less than 100 KB costs "
    "time and tells hardly more', 'give sampling_interval_bytes of 102400 or more' from "
    "tv_source_config where try_cast(d ->> '$.heapprofd_config.sampling_interval_bytes' as "
    "bigint) between 1 and 102399 union all select distinct input, machine_id, "
    "'display_video_not_enabled', 'the display was to be recorded, but there is no picture and no "
    "error: devices of users refuse it', 'adb shell setprop debug.tracing_video_allowed true, "
    "again after each start of the device' from tv_source_config where (d ->> '$.name') = "
    "'android.display.video' and regexp_matches(extract_metadata_for_machine(machine_id, "
    "'android_build_fingerprint'), ':user/') and not exists (from packet where type in "
    "('video_frame', 'video_frame_error'))) select row_number() over () - 1 as id, key, key as "
    "name, description, remediation, machine_id, input as trace_id from tv_r",
    "create view __intrinsic_trace_diagnostics as select * from trace_diagnostics",
    /* The names of classes and members before a program that makes them short (R8), as mappings in
     * a Perfetto trace tell them. */
    "create view tv_obfuscated_class as select c.value ->> '$.obfuscated_name' as short, "
    "max(c.value ->> '$.deobfuscated_name') as name from tv_said p, json_each(p.j -> "
    "'$.obfuscated_classes') c where p.type = 'deobfuscation_mapping' group by 1",
    "create view tv_obfuscated_member as select (c.value ->> '$.obfuscated_name') || '.' || "
    "(m.value "
    "->> '$.obfuscated_name') as short, max(case when contains(m.value ->> '$.deobfuscated_name', "
    "'.') then '' else (c.value ->> '$.deobfuscated_name') || '.' end || (m.value ->> "
    "'$.deobfuscated_name')) as name from tv_said p, json_each(p.j -> '$.obfuscated_classes') c, "
    "json_each(c.value -> '$.obfuscated_members') m where p.type = 'deobfuscation_mapping' group "
    "by "
    "1",
    /* "a" is the class of "a", "a[]" and "java.lang.Class<a[]>". */
    "create view heap_graph_class as select c.* exclude (tv_bare), regexp_extract(c.name, "
    "'^(java[.]lang[.]Class<)?') || o.name || regexp_extract(c.name, '[]>[]*$') as "
    "deobfuscated_name from (select *, regexp_extract(name, "
    "'^(?:java[.]lang[.]Class<)?([^]<>[]+)', 1) as tv_bare from tv_heap_graph_class()) c left join "
    "tv_obfuscated_class o on c.tv_bare = o.short",
    "create view heap_graph_reference as select r.*, o.name as deobfuscated_field_name from "
    "tv_heap_graph_reference() r left join tv_obfuscated_member o on r.field_name = o.short",
    "create view android_heap_graph_class_summary_tree as select t.* exclude (tv_bare) replace "
    "(coalesce(regexp_extract(t.name, '^(java[.]lang[.]Class<)?') || o.name || "
    "regexp_extract(t.name, '[]>[]*$'), t.name) as name) from (select *, regexp_extract(name, "
    "'^(?:java[.]lang[.]Class<)?([^]<>[]+)', 1) as tv_bare from "
    "tv_android_heap_graph_class_summary_tree()) t left join tv_obfuscated_class o on t.tv_bare = "
    "o.short",
    /* Slices of hardware queues, of the Vulkan driver and of display buffers. */
    "create view gpu_slice as select s.* exclude (e), try_cast(arg_of(e, 'context') as bigint) "
    "as context_id, try_cast(arg_of(e, 'render_target_handle') as bigint) as render_target, "
    "try_cast(arg_of(e, 'render_pass_handle') as bigint) as render_pass, "
    "try_cast(coalesce(arg_of(e, 'command_buffer_handle'), arg_of(e, "
    "'vk_queue_submit.vk_command_buffers[0]')) as bigint) as command_buffer, "
    "try_cast(coalesce(arg_of(e, 'submission_id'), arg_of(e, 'vk_queue_submit.submission_id')) "
    "as bigint) as submission_id, try_cast(arg_of(e, 'hw_queue_id') as bigint) as hw_queue_id, "
    "coalesce(case when category = 'graphics' then try_cast(name::varchar as bigint) end, "
    "try_cast(arg_of(e, 'buffer_event.frame_number') as bigint)) as frame_number, arg_of(e, "
    "'buffer_event.layer_name') as layer_name from (select *, tv_event(id) as e from slice "
    "where category in ('gpu', 'graphics')) s",
    "create view frame_slice as select * from gpu_slice where category = 'graphics'",
    "create view gpu_track as select t.*, null::varchar as description, case when s.category = "
    "'graphics' then 'graphics_frame_event' when t.name = 'Vulkan Events' then 'vulkan_events' "
    "else 'gpu_render_stage' end as scope from track t join (select track_id, any_value(category) "
    "as category from slice where category in ('gpu', 'graphics') group by track_id) s on t.id = "
    "s.track_id where t.type = 'async_track'",
    "create view gpu_counter_track as select *, try_cast(extract_arg(dimension_arg_set_id, 'gpu') "
    "as bigint) as gpu_id from counter_track where type = 'gpu_counter'",
    /* Counts of perf until each sample, by processor and session. */
    "create view perf_counter_track as select *, try_cast(extract_arg(dimension_arg_set_id, 'cpu') "
    "as bigint) as cpu, dense_rank() over (order by try_cast(extract_arg(dimension_arg_set_id, "
    "'sequence') as bigint)) - 1 as perf_session_id, extract_arg(dimension_arg_set_id, "
    "'is_timebase') = '1' as is_timebase from counter_track where type = 'perf_counter'",
    "create view perf_session as select distinct perf_session_id as id from perf_counter_track",
    "create view gpu as with tv_told as (select try_cast(substr(name, 5) as bigint) as gpu, "
    "machine_id, str_value as j from metadata where regexp_matches(name, '^gpu [0-9]+$')) select "
    "machine_id * 4096 + gpu as id, gpu, j ->> '$.name' as name, j ->> '$.vendor' as vendor, j ->> "
    "'$.model' as model, j ->> '$.architecture' as architecture, replace(j ->> '$.uuid', '0x', '') "
    "as uuid, j ->> '$.pci_bdf' as pci_bdf, machine_id from (select gpu, machine_id from tv_told "
    "union select gpu_id, machine_id from gpu_counter_track) left join tv_told using (gpu, "
    "machine_id) where gpu is not null order by id",
    "create view gpu_counter_group as select try_cast(g ->> 'id' as bigint) as group_id, g ->> "
    "'name' as name, g ->> 'description' as description, track_id from (select id as track_id, "
    "unnest(from_json(tv_event(dimension_arg_set_id) -> '$.groups', '[\"json\"]')) as g from "
    "counter_track where type = 'gpu_counter')",
    "create view expected_frame_timeline_slice as select id, ts, dur, track_id, category, name, "
    "depth, arg_set_id, upid, try_cast(extract_arg(arg_set_id, 'Display frame token') as bigint) "
    "as display_frame_token, try_cast(extract_arg(arg_set_id, 'Surface frame token') as bigint) as "
    "surface_frame_token, extract_arg(arg_set_id, 'Layer name') as layer_name from slice where "
    "category = 'frame.expected'",
    "create view actual_frame_timeline_slice as select id, ts, dur, track_id, category, name, "
    "depth, arg_set_id, upid, try_cast(extract_arg(arg_set_id, 'Display frame token') as bigint) "
    "as display_frame_token, try_cast(extract_arg(arg_set_id, 'Surface frame token') as bigint) as "
    "surface_frame_token, extract_arg(arg_set_id, 'Layer name') as layer_name, "
    "extract_arg(arg_set_id, 'Present type') as present_type, (extract_arg(arg_set_id, 'On time "
    "finish') = 'true')::bigint as on_time_finish, (extract_arg(arg_set_id, 'GPU composition') = "
    "'true')::bigint as gpu_composition, extract_arg(arg_set_id, 'Jank type') as jank_type, "
    "extract_arg(arg_set_id, 'Prediction type') as prediction_type, extract_arg(arg_set_id, 'Jank "
    "tag') as jank_tag, extract_arg(arg_set_id, 'Jank severity type') as jank_severity_type from "
    "slice where category = 'frame.actual'",
    "create view raw as select * from ftrace_event",
    /* The tree of a heap, as Perfetto's function gives it. */
    "create macro experimental_flamegraph(tv_kind, tv_at, tv_times, tv_process, tv_processes, "
    "tv_focus) as table select id, parent_id, depth, name, self_count as count, cumulative_count, "
    "self_size + self_native_size as size, cumulative_size + cumulative_native_size as "
    "cumulative_size, upid from android_heap_graph_class_summary_tree where graph_sample_ts = "
    "tv_at and upid is not distinct from tv_process and case when tv_kind = 'graph' then true else "
    "error('experimental_flamegraph is of graphs alone; android_heap_profile_summary_tree and "
    "linux_perf_samples_summary_tree sum up stacks') end",
    "create macro arg_key(path) as replace(substr(path, 3), '\"', '')",
    "create view args as select s.id as arg_set_id, regexp_replace(arg_key(j.fullkey), "
    "'\\[[0-9]+\\]', '', 'g') as flat_key, arg_key(j.fullkey) as key, case j.type when 'VARCHAR' "
    "then j.atom ->> '$' end as string_value, case when j.type in ('UBIGINT', 'BIGINT') then "
    "try_cast(j.atom as bigint) when j.type = 'BOOLEAN' then (j.atom::varchar = 'true')::bigint "
    "end as int_value, case j.type when 'DOUBLE' then j.atom::double end as real_value, case "
    "j.type when 'VARCHAR' then 'string' when 'DOUBLE' then 'real' when 'BOOLEAN' then 'bool' when "
    "'NULL' then 'null' else 'int' end as value_type, j.atom ->> '$' as display_value from (select "
    "id from slice) s, json_tree(tv_event(s.id)) j where j.type not in ('OBJECT', 'ARRAY')",
    /* A parameter can be a column of the caller's query.  It stands alone in a SELECT, where no
     * name of ours is taken for the caller's. */
    "create macro ancestor_slice(i) as table select tv_s.* from (select i as tv_i) tv_of, lateral "
    "unnest(range(1, tv_depth(tv_of.tv_i) + 1)) tv_l(tv_level) join slice tv_s on tv_s.id = "
    "tv_around(tv_of.tv_i, tv_level)",
    "create macro descendant_slice(i) as table with recursive tv_down(tv_id) as (select tv_s.id "
    "from (select i as tv_i) join slice tv_s on tv_s.parent_id = tv_i union all select tv_s.id "
    "from tv_down join slice tv_s on tv_s.parent_id = tv_down.tv_id) select tv_s.* from tv_down "
    "join slice tv_s on tv_s.id = tv_down.tv_id",
    /* Perfetto's modules slices.hierarchy and slices.stack.  Equal chains of callers are one path.
     */
    "create macro _slice_ancestor_and_self(i) as table select tv_s.* from (select i as tv_i) join "
    "slice tv_s on tv_s.id = tv_i union all select * from ancestor_slice(i)",
    "create macro _slice_descendant_and_self(i) as table select tv_s.* from (select i as tv_i) "
    "join slice tv_s on tv_s.id = tv_i union all select * from descendant_slice(i)",
    "create view slice_with_stack_id as select s.*, coalesce(s.path_id, -1 - s.frame_id) as "
    "stack_id, coalesce(p.parent_id, 0) as parent_stack_id from slice s left join path p on "
    "s.path_id = p.id",
    "create macro ancestor_slice_by_stack(i) as table select tv_a.* from slice_with_stack_id tv_s, "
    "ancestor_slice(tv_s.id) tv_a where tv_s.stack_id = i",
    "create macro descendant_slice_by_stack(i) as table select tv_d.* from slice_with_stack_id "
    "tv_s, descendant_slice(tv_s.id) tv_d where tv_s.stack_id = i",
    /* Perfetto's module android.memory.heap_graph.heap_graph_class_aggregation, without what a
     * class dominates. */
    "create view android_heap_graph_class_aggregation as select upid, graph_sample_ts, type_id, "
    "any_value(coalesce(c.deobfuscated_name, c.name)) as type_name, count(*) as obj_count, "
    "sum(self_size)::bigint as size_bytes, "
    "sum(native_size)::bigint as native_size_bytes, count(*) filter (reachable = 1) as "
    "reachable_obj_count, coalesce(sum(self_size) filter (reachable = 1), 0)::bigint as "
    "reachable_size_bytes, coalesce(sum(native_size) filter (reachable = 1), 0)::bigint as "
    "reachable_native_size_bytes from heap_graph_object o join heap_graph_class c on o.type_id = "
    "c.id group by upid, graph_sample_ts, type_id",
    /* The slices that a flow leaves: its own, and those around it.  A table, because recursion
     * would read the flows again for each step. */
    "create table tv_arrow as select tv_around(slice_out, unnest(range(tv_depth(slice_out) + 1))) "
    "as source, id as flow_id, slice_out, slice_in from flow",
    /* From a slice to its children and along its flows; back from it to its parents and sources. */
    "create macro following_flow(i) as table with recursive tv_reached(tv_id) as (select i union "
    "select tv_a.slice_in from tv_reached join tv_arrow tv_a on tv_a.source = tv_reached.tv_id), "
    "tv_found as (select distinct tv_a.flow_id from tv_reached join tv_arrow tv_a on tv_a.source = "
    "tv_reached.tv_id) select tv_f.* from tv_found join flow tv_f on tv_f.id = tv_found.flow_id",
    "create macro preceding_flow(i) as table with recursive tv_reached(tv_id) as (select i union "
    "select unnest([tv_around(tv_id, 1), tv_a.slice_out]) from tv_reached left join tv_arrow tv_a "
    "on tv_a.slice_in = tv_reached.tv_id and tv_a.source = tv_a.slice_out where tv_id is not "
    "null) select tv_f.* from tv_reached join flow tv_f on tv_f.slice_in = tv_reached.tv_id",
    "create macro directly_connected_flow(i) as table with recursive tv_after(tv_id) as (select i "
    "union select tv_a.slice_in from tv_after join tv_arrow tv_a on tv_a.source = tv_after.tv_id "
    "where tv_a.source = tv_a.slice_out), tv_before(tv_id) as (select i union select "
    "tv_a.slice_out from tv_before join tv_arrow tv_a on tv_a.slice_in = tv_before.tv_id where "
    "tv_a.source = tv_a.slice_out) select tv_f.* from tv_after join flow tv_f on tv_f.slice_out "
    "= tv_after.tv_id union select tv_f.* from tv_before join flow tv_f on tv_f.slice_in = "
    "tv_before.tv_id",
    NULL,
};

/* A run of equal values is one row, as in Perfetto's module counters.intervals. */
const char tv_sql_macro_prelude[] =
    "create perfetto macro counter_leading_intervals(counters TableOrSubquery) returns "
    "TableOrSubquery as (select id, ts, coalesce(lead(ts) over runs, trace_end()) - ts as dur, "
    "track_id, value, lead(value) over runs as next_value, value - before as delta_value from "
    "(select id, ts, track_id, value, lag(value) over (partition by track_id order by ts, id) as "
    "before from $counters) where before is null or before <> value window runs as (partition by "
    "track_id order by ts, id));"
    "create perfetto macro cast_int(value Expr) returns Expr as cast($value as bigint);"
    "create perfetto macro cast_double(value Expr) returns Expr as cast($value as double);"
    "create perfetto macro cast_string(value Expr) returns Expr as cast($value as varchar)";

const char *const tv_sql_exported[] = {
    "slice",        "thread",        "process", "track",    "counter_track", "counter", "sched",
    "thread_state", "sample",        "path",    "frame",    "flow",          "args",    "metadata",
    "diagnostic",   "frames",        "wakeup",  "blocking", "trace_bounds",  "object",  "snapshot",
    "memory_dump",  "memory_figure", "finding", NULL,
};

/* Tables, columns and functions of ours, and the words of most queries. */
const char *const tv_sql_completions[] = {
    "actual_frame_timeline_slice",
    "all",
    "allocator",
    "ancestor_slice",
    "ancestor_slice_by_stack",
    "and",
    "android_heap_graph_class_aggregation",
    "android_heap_graph_class_summary_tree",
    "android_heap_profile_summary_tree",
    "android_logs",
    "any_value",
    "arg_set_id",
    "args",
    "as",
    "async_track",
    "avg",
    "between",
    "blocked_function",
    "blocking",
    "build_id",
    "by",
    "callee_id",
    "caller_id",
    "callsite_id",
    "case",
    "cat",
    "category",
    "cause",
    "cause_dur",
    "class",
    "clock_id",
    "clock_name",
    "clock_snapshot",
    "clock_value",
    "cmdline",
    "coalesce",
    "count",
    "counter",
    "counter_leading_intervals",
    "counter_track",
    "counters",
    "cpu",
    "cpu_counter_track",
    "cpu_frequency_counters",
    "cpu_mode",
    "cpu_track",
    "cpu_utilization_per_period",
    "cpu_utilization_per_second",
    "create",
    "cumulative_count",
    "deadline",
    "deadline_from",
    "deobfuscated_name",
    "depth",
    "desc",
    "descendant_slice",
    "descendant_slice_by_stack",
    "description",
    "diagnostic",
    "dimension_arg_set_id",
    "directly_connected_flow",
    "distinct",
    "dump_key",
    "dur",
    "edge",
    "else",
    "end",
    "end_state",
    "end_ts",
    "excl",
    "excl_cpu",
    "expected_frame_timeline_slice",
    "explain",
    "extract_arg",
    "extract_metadata",
    "extract_metadata_for_machine",
    "file",
    "finding",
    "flags",
    "flow",
    "flow_id",
    "following_flow",
    "frame",
    "frame_id",
    "frame_slice",
    "frames",
    "from",
    "ftrace_event",
    "gpu",
    "gpu_counter_group",
    "gpu_counter_track",
    "gpu_id",
    "gpu_slice",
    "gpu_track",
    "group",
    "group_id",
    "having",
    "heap_graph_class",
    "heap_graph_object",
    "heap_graph_reference",
    "heap_profile_allocation",
    "id",
    "idx",
    "iif",
    "in",
    "incl",
    "incl_cpu",
    "input",
    "instant",
    "int_value",
    "io_wait",
    "is_created",
    "is_deleted",
    "is_idle",
    "is_inner",
    "is_main_thread",
    "join",
    "kind",
    "labels",
    "late",
    "leaf",
    "left",
    "level",
    "like",
    "limit",
    "line",
    "linux_perf_samples_summary_tree",
    "losses",
    "machine",
    "machine_id",
    "main_dur",
    "mapping_name",
    "max",
    "median",
    "memory_dump",
    "memory_dump_id",
    "memory_figure",
    "metadata",
    "method",
    "min",
    "module",
    "name",
    "not",
    "null",
    "object",
    "object_id",
    "object_key",
    "on",
    "or",
    "order",
    "origin",
    "over",
    "p95",
    "package_list",
    "packet",
    "packet_sequence",
    "parent_id",
    "parent_name",
    "parent_upid",
    "partition",
    "path",
    "path_id",
    "path_stack",
    "percentile",
    "perf_counter_track",
    "perf_sample",
    "perf_session",
    "pid",
    "preceding_flow",
    "priority",
    "process",
    "process_counter_track",
    "process_name",
    "process_slice",
    "process_track",
    "quantile_cont",
    "raw",
    "reason",
    "recursive_calls",
    "regexp_matches",
    "rel_pc",
    "remediation",
    "render_dur",
    "root_name",
    "round",
    "sample",
    "sched",
    "sched_previous_runnable_on_thread",
    "sched_slice",
    "sched_state_to_human_readable_string",
    "scope",
    "select",
    "self_count",
    "self_dur",
    "self_thread_dur",
    "sequence_id",
    "series",
    "severity",
    "signature",
    "slice",
    "slice_id",
    "slice_in",
    "slice_kind",
    "slice_name",
    "slice_out",
    "slice_self_dur",
    "slice_with_stack_id",
    "slices",
    "snapshot",
    "snapshots",
    "source",
    "stack_profile_callsite",
    "stack_profile_frame",
    "stack_profile_mapping",
    "stack_profile_symbol",
    "stack_sample",
    "stack_sample_async_context",
    "stack_sample_counter",
    "stack_sample_counter_track",
    "stack_sample_execution_context",
    "stack_sample_session",
    "stack_sample_task_context",
    "start_ts",
    "state",
    "state_name",
    "stats",
    "str_split",
    "str_value",
    "sum",
    "table",
    "then",
    "thread",
    "thread_dur",
    "thread_name",
    "thread_or_process_slice",
    "thread_slice",
    "thread_slice_cpu_time",
    "thread_slice_time_in_state",
    "thread_state",
    "thread_track",
    "thread_ts",
    "tid",
    "time_from_ms",
    "time_from_s",
    "time_from_us",
    "time_to_min",
    "time_to_ms",
    "time_to_ns",
    "time_to_s",
    "time_to_us",
    "title",
    "to_monotonic",
    "to_realtime",
    "total",
    "total_dur",
    "trace_bounds",
    "trace_diagnostics",
    "trace_dur",
    "trace_end",
    "trace_id",
    "trace_start",
    "track",
    "track_id",
    "ts",
    "ts_in",
    "ts_out",
    "type",
    "ucpu",
    "uid",
    "unhex",
    "union",
    "unit",
    "upid",
    "using",
    "utid",
    "value",
    "value_type",
    "view",
    "waker_utid",
    "wakeup",
    "weight",
    "when",
    "where",
    "with",
    NULL,
};

bool tv_sql_is_exported(const char *words, const char *table)
{
    size_t length = strlen(table);
    for (const char *word = words; word && *word;) {
        size_t here = strcspn(word, ",");
        if (here == length && memcmp(word, table, length) == 0)
            return true;
        word += here + (word[here] == ',');
    }
    return !words;
}
