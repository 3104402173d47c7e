# SPDX-License-Identifier: Apache-2.0
"""Packets of Perfetto traces, written as dicts by the names of their fields, and read back without names.

    trace({"timestamp": 5, "frame_timeline_event": {"frame_end": {"cookie": 1}}})

Numbers of fields are those of Perfetto's published .proto files.
"""
import collections
import struct

# Message -> its fields: "name=number", "name=number:Message", "name=number!" for fixed64.
_MESSAGES = """
Packet: timestamp=8 timestamp_clock_id=58 trusted_packet_sequence_id=10 sequence_flags=13 interned_data=12:Interned
  trace_packet_defaults=59:Defaults previous_packet_dropped=42
  perf_sample=66:PerfSample profile_packet=37:ProfilePacket machine_id=98 translation_table=82:Translations heap_graph=56:HeapGraph gpu_info=128:GpuInfo concurrent_session_event=134:Session
  ftrace_events=1:Bundle process_tree=2:ProcessTree chrome_events=5:ChromeEvents clock_snapshot=6:Snapshot
  sys_stats=7:SysStats process_stats=9:ProcessStats power_rails=40:Rails track_event=11:Event system_info=45:SystemInfo
  gpu_counter_event=52:GpuCounters gpu_mem_total_event=71:GpuMemory android_system_property=86:Properties
  generic_gpu_frequency_event=129:GpuFrequency gpu_render_stage_event=53:RenderStage graphics_frame_event=57:Graphics vulkan_api_event=65:Vulkan packages_list=47:Packages track_descriptor=60:Descriptor stack_sample=135:StackSample frame_timeline_event=76:FrameTimeline for_testing=900
  trace_config=33:TraceConfig trace_stats=35:TraceStats trace_uuid=89:Uuid service_event=69:ServiceEvent generic_kernel_task_state_event=117:GenericState
  ftrace_stats=34:FtraceStats chrome_benchmark_metadata=48:Benchmark chrome_metadata=51:ChromePacket inode_file_map=4 gpu_log=63:GpuLog track_event_range_of_interest=90:Range
  remote_clock_sync=107:RemoteSync trace_attributes=126:Attributes module_symbols=61:Symbols deobfuscation_mapping=64:Deobfuscation
TraceConfig: buffers=1:BufferConfig data_sources=2:DataSource duration_ms=3 trace_attributes=48:Attributes write_into_file=8 file_write_period_ms=9
Attributes: attribute=1:Attribute
Attribute: key=1 long_value=2 string_value=3
FtraceStats: phase=1 cpu_stats=2:CpuStats atrace_errors=5 unknown_ftrace_events=6 failed_ftrace_events=7
CpuStats: cpu=1 overrun=3 commit_overrun=4 dropped_events=8
Benchmark: benchmark_name=3 story_tags=7 had_failures=9
ChromePacket: background_tracing_metadata=1:Background chrome_version_code=2 enabled_categories=3 field_trial_hashes=4:Trial os_name=8
Background: scenario_name_hash=3
Trial: name=1 group=2
GpuLog: severity=1 tag=2 log_message=3
Range: start_us=1
RemoteSync: synced_clocks=1:SyncedClocks
SyncedClocks: client_clocks=2:Snapshot host_clocks=3:Snapshot
LogMessage: source_location_iid=1 body_iid=2 prio=3
Location: iid=1 file_name=2 function_name=3 line_number=4
BufferConfig: size_kb=1 fill_policy=4
DataSource: config=1:SourceConfig
SourceConfig: name=1 target_buffer=2 ftrace_config=100:FtraceConfig heapprofd_config=105:HeapConfig
FtraceConfig: ftrace_events=1 buffer_size_kb=10 drain_period_ms=11 symbolize_ksyms=13 syscall_events=18 enable_function_graph=19 preserve_ftrace_buffer=23
HeapConfig: sampling_interval_bytes=1
TraceStats: buffer_stats=1:BufferStats producers_seen=3 filter_stats=11:FilterStats final_flush_outcome=15 writer_stats=18:WriterStats
BufferStats: bytes_written=1 chunks_overwritten=3
FilterStats: errors=4 bytes_discarded_per_buffer=20
WriterStats: sequence_id=1 buffer=4
ServiceEvent: tracing_started=2
Uuid: msb=1 lsb=2
GenericState: cpu=1 comm=2 tid=3 state=4 prio=5
Interned: event_categories=1:Named event_names=2:Named debug_annotation_names=3:Named source_locations=4:Location log_message_body=20:Named function_names=5:Named
  debug_annotation_string_values=29:Named gpu_specifications=24:Named
  frames=6:Frame callstacks=7:Callstack stack_sample_task_contexts=48:Task stack_sample_execution_contexts=49:Execution stack_sample_async_contexts=51:Async
  build_ids=16:Named mapping_paths=17:Named mappings=19:Mapping
Named: iid=1 text=2
ProfilePacket: process_dumps=5:ProcessDump
ProcessDump: pid=1 samples=2:HeapSample heap_name=11
HeapSample: callstack_id=1 self_allocated=2 self_freed=3 alloc_count=5 free_count=6 self_max=8 self_max_count=9
Frame: iid=1 function_name_id=2 mapping_id=3 rel_pc=4 kind=7 other_kind=8
Mapping: iid=1 build_id=2 path_string_ids=7
Symbols: path=1 build_id=2 address_symbols=3:Address
Address: address=1 lines=2:Line
Line: function_name=1 source_file_name=2 line_number=3
Deobfuscation: package_name=1 obfuscated_classes=3:ObfuscatedClass
ObfuscatedClass: obfuscated_name=1 deobfuscated_name=2 obfuscated_members=3:ObfuscatedMember obfuscated_methods=4:ObfuscatedMember
ObfuscatedMember: obfuscated_name=1 deobfuscated_name=2
Callstack: iid=1 frame_ids=2
Defaults: timestamp_clock_id=58 track_event_defaults=11:EventDefaults perf_sample_defaults=12:PerfDefaults stack_sample_defaults=100:StackDefaults
PerfDefaults: timebase=1:Timebase followers=4:Follower
Timebase: counter=4 name=10
Follower: counter=1 name=4
PerfSample: cpu=1 pid=2 tid=3 timebase_count=6 follower_counts=7
StackDefaults: source=1 primary_descriptor=2:SampleCounter follower_descriptors=3:SampleCounter
SampleCounter: iid=1 name=2 unit=3 unit_str=4
StackSample: task_context=1:Task task_context_iid=2 execution_context=3:Execution execution_context_iid=4 callstack=5:InlineStack callstack_iid=6
  primary_descriptor=9:SampleCounter primary_weight=11 follower_weights=14
Task: iid=1 pid=2 tid=3 async_id=4
Execution: iid=1 cpu=2 mode=3
Async: iid=1 name=2 kind=3 parent_iid=4
InlineStack: frames=1:InlineFrame
InlineFrame: function_name=1 source_file=2 line_number=3
EventDefaults: track_uuid=11
Snapshot: clocks=1:Clock primary_trace_clock=2
Clock: clock_id=1 timestamp=2 is_incremental=3 unit_multiplier_ns=4
Translations: slice_name=4:NameTable process_track_name=5:NameTable
NameTable: entries=1:NameEntry
NameEntry: key=1 value=2
GpuInfo: gpus=1:Gpu
Gpu: name=1 vendor=2 uuid=5 pci_bdf=7
Session: state=1 session_name=2 session_id=3
SystemInfo: utsname=1:Uname android_sdk_version=5 num_cpus=8 android_soc_model=9 system_ram_bytes=16
Uname: sysname=1 release=3
ProcessTree: processes=1:Process threads=2:Thread
Process: pid=1 ppid=2 cmdline=3 uid=5 process_start_from_boot=7 is_kthread=8 cmdline_is_comm=9
Thread: tid=1 name=2 tgid=3
ProcessStats: processes=1:ProcessMemory
ProcessMemory: pid=1 vm_rss_kb=3
Rails: rail_descriptor=1:Rail energy_data=2:Energy session_uuid=3
Rail: index=1 rail_name=2
Energy: index=1 timestamp_ms=2 energy=3
SysStats: meminfo=1:Meminfo disk_stat=13:Disk cpuidle_state=16:CpuIdle
Disk: device_name=1 read_sectors=2 read_time_ms=3 write_sectors=4 write_time_ms=5 flush_count=8
CpuIdle: cpu_id=1 cpuidle_state_entry=2:IdleState
IdleState: state=1 duration_us=2
GpuCounters: counter_descriptor=1:GpuDescriptor counters=2:GpuValue gpu_id=3
GpuDescriptor: specs=1:GpuSpec counter_groups=6:GpuGroup
GpuSpec: counter_id=1 name=2 description=3 numerator_units=7 denominator_units=8 groups=10 value_direction=11
GpuGroup: group_id=1 name=2 description=3 counter_ids=4
GpuValue: counter_id=1 int_value=2 double_value=3
GpuMemory: gpu_id=1 pid=2 size=3
GpuFrequency: gpu_id=1 frequency_khz=2
Properties: values=1:Property
Property: name=1 value=2
Meminfo: key=1 value=2
RenderStage: event_id=1 duration=2 hw_queue_id=3 stage_id=4 context=5 submission_id=10 command_buffer_handle=12 specifications=7:Specifications hw_queue_iid=13 stage_iid=14
  name=17 name_iid=20 event_id=1 event_wait_ids=18
Specifications: hw_queue=2:Description stage=3:Description
Description: name=1
Graphics: buffer_event=1:BufferEvent
BufferEvent: frame_number=1 type=2 layer_name=3 duration_ns=4 buffer_id=5
Vulkan: vk_queue_submit=2:Submit
Submit: duration_ns=1 pid=2 tid=3 vk_command_buffers=5 submission_id=6
Packages: packages=1:Package
Package: name=1 uid=2 debuggable=3 profileable_from_shell=4 version_code=5
ChromeEvents: metadata=2:ChromeMetadata legacy_ftrace_output=4 legacy_json_trace=5:ChromeJson
ChromeMetadata: name=1 string_value=2
ChromeJson: type=1 data=2
FrameTimeline: expected_display_frame_start=1:DisplayFrame actual_display_frame_start=2:DisplayFrame
  expected_surface_frame_start=3:SurfaceFrame actual_surface_frame_start=4:SurfaceFrame frame_end=5:FrameEnd
DisplayFrame: cookie=1 token=2 pid=3 present_type=4 on_time_finish=5 gpu_composition=6 jank_type=7 prediction_type=8
  jank_severity_type=9
SurfaceFrame: cookie=1 token=2 display_frame_token=3 pid=4 layer_name=5 present_type=6 on_time_finish=7
  gpu_composition=8 jank_type=9 prediction_type=10 is_buffer=11 jank_severity_type=12
FrameEnd: cookie=1
Descriptor: uuid=1 name=2 process=3:ProcessDescriptor thread=4:ThreadDescriptor parent_uuid=5 chrome_process=6:ChromeProcess counter=8:Counter sibling_order_rank=12
  disallow_merging_with_system_tracks=9 state=18:State sibling_merge_behavior=15
ProcessDescriptor: pid=1 legacy_sort_index=3 process_name=6
ChromeProcess: host_app_package_name=4
ThreadDescriptor: pid=1 tid=2 thread_name=5
Counter: type=1 is_incremental=5
State:
Event: type=9 track_uuid=11 name_iid=10 name=23 category_iids=3 categories=22 counter_value=30
  debug_annotations=4:Annotation flow_ids=47! terminating_flow_ids=48! extra_counter_values=12
  extra_counter_track_uuids=31 timestamp_absolute_us=16 legacy_event=6:Legacy log_message=21:LogMessage gpu_correlation=3000:Correlation
Correlation: submits=1 waits=2
Legacy: phase=2 duration_us=3 unscoped_id=6 bind_id=8 bind_to_enclosing=12 flow_direction=13
Annotation: name_iid=1 name=10 int_value=4 string_value=6 string_value_iid=17
Bundle: cpu=1 event=2:Ftrace lost_events=3 compact_sched=4:Compact last_read_event_timestamp=9 previous_bundle_end_timestamp=10
Compact: switch_timestamp=1 switch_prev_state=2 switch_next_pid=3 switch_next_prio=4 intern_table=5
  switch_next_comm_index=6 waking_timestamp=7 waking_pid=8 waking_target_cpu=9 waking_prio=10 waking_comm_index=11
Ftrace: timestamp=1 pid=2 print=3:Print sched_switch=4:Switch cpu_frequency=11:CpuNumber cpu_idle=13:CpuNumber
  rss_stat=313:Rss sched_wakeup=17:Waking sched_waking=20:Waking irq_handler_entry=36:Irq irq_handler_exit=37:Irq
  sched_blocked_reason=18:Reason task_newtask=235:NewTask sched_process_free=240:Free binder_transaction=50:Transaction binder_transaction_received=51:Received
  tcp_retransmit_skb=363:Retransmit napi_gro_receive_entry=365:Napi napi_gro_receive_exit=366:NapiExit
  v4l2_qbuf=422:V4l2 virtio_video_cmd=439:VideoCommand virtio_video_resource_queue=441:VideoQueue
  virtio_video_resource_queue_done=442:VideoQueue cma_alloc_start=465:Cma cma_alloc_info=466:Cma cma_alloc_finish=576:Cma
  block_io_start=546:Block block_io_done=547:Block suspend_resume=113:Suspend wakeup_source_activate=404:Wakeup wakeup_source_deactivate=405:Wakeup
Print: ip=1 buf=2
HeapGraph: pid=1 objects=2:HeapObject field_names=4:HeapName continued=5 index=6 roots=7:HeapRoot location_names=8:HeapName types=9:HeapType
HeapObject: id=1 type_id=2 self_size=3 reference_field_id=4 reference_object_id=5 reference_field_id_base=6 id_delta=7
  native_allocation_registry_size_field=8 heap_type_delta=9
HeapName: iid=1 str=2
HeapRoot: object_ids=1 root_type=2
HeapType: id=1 location_id=2 class_name=3 object_size=4 superclass_id=5 reference_field_id=6 kind=7 classloader_id=8
Rss: member=1 size=2 curr=3 mm_id=4
Switch: prev_comm=1 prev_pid=2 prev_prio=3 prev_state=4 next_comm=5 next_pid=6 next_prio=7
CpuNumber: state=1 cpu_id=2
Waking: comm=1 pid=2 prio=3 success=4 target_cpu=5
Irq: irq=1 name=2
Transaction: debug_id=1 to_proc=3 to_thread=4 reply=5 code=6 flags=7
Received: debug_id=1
Reason: pid=1 caller=2 io_wait=3
Free: comm=1 pid=2
NewTask: pid=1 comm=2 clone_flags=3
Suspend: action=1 val=2 start=3
Retransmit: dport=2 sport=6
Napi: len=7 name=10
NapiExit: ret=1
V4l2: index=4 minor=5 sequence=6 type=18
VideoCommand: stream_id=1 type=2
VideoQueue: queue_type=5 resource_id=6 stream_id=7
Cma: align=1
Block: dev=1 sector=2 bytes=4
Wakeup: name=1 state=2
"""


def _schema():
    messages, name = {}, ""
    for word in _MESSAGES.split():
        if word.endswith(":"):
            name = word[:-1]
            messages[name] = {}
            continue
        field, _, rest = word.partition("=")
        number, _, message = rest.partition(":")
        messages[name][field] = (int(number.rstrip("!")), message, number.endswith("!"))
    return messages


_SCHEMA = _schema()


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _bytes_field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def _field(number, message, fixed, value):
    if isinstance(value, list):  # repeated, one field each
        return b"".join(_field(number, message, fixed, v) for v in value)
    if isinstance(value, tuple):  # packed
        return _bytes_field(number, b"".join(map(varint, value)))
    if isinstance(value, dict):
        return _bytes_field(number, encode(message, value))
    if isinstance(value, str):
        return _bytes_field(number, value.encode())
    if isinstance(value, bytes):
        return _bytes_field(number, value)
    if isinstance(value, float) or fixed:
        return varint(number << 3 | 1) + struct.pack("<d" if isinstance(value, float) else "<Q", value)
    return varint(number << 3) + varint(int(value))


def encode(message, fields):
    """The bytes of a message."""
    return b"".join(_field(*_SCHEMA[message][name], value) for name, value in fields.items())


def trace(*packets):
    """The bytes of a trace."""
    return b"".join(_bytes_field(1, encode("Packet", packet)) for packet in packets)


# ---- Reading: knows nothing but the encoding ----

def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Numbers of fields, and their values in order."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        elif key & 7 in (1, 5):
            size = 8 if key & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        elif key & 7 == 2:
            length, at = read_varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length, "cut"
        else:
            raise ValueError(f"wire type {key & 7}")
        found[key >> 3].append(value)
    return found
