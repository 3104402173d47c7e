// SPDX-License-Identifier: Apache-2.0
package android.os;

import java.nio.charset.StandardCharsets;
import traceview.Recorder;

/**
 * Starts and stops the recording of method calls, as Android's class of this name does, on any
 * machine that has JVMTI. What is recorded is a {@code .trace} file that traceview, Android Studio
 * and dmtracedump read.
 *
 * <p>There is one recording at a time in a process, of all its threads. The classes of the program
 * are recorded from their next call on, and without option {@code boot=y} those of Java itself are
 * not.
 *
 * <p>Where a name is asked for, it is that of a file; {@code .trace} is added when it has no such
 * ending. Names that do not begin with a slash are relative to the process's working directory
 * (Android: to the external storage). A file of that name is overwritten when the recording stops;
 * until then there is only NAME.part.
 *
 * <p>A buffer of 0 bytes is one of 8 MiB. It counts the bytes of the file's records: 10 a record,
 * 14 with {@code clock=dual}, two records a call. When it is full, the recording ends, one line on
 * standard error says so, and the file carries {@code data-file-overflow=true}. Less than 4 KiB
 * counts as that, more than 1 GiB too.
 *
 * <p>As on Android, a start while calls are recorded (by whose order it may be) is ignored, with a
 * line on standard error, and a stop without a start does nothing. When the process ends without a
 * stop, the file is written all the same.
 *
 * <p>Methods throw {@link UnsatisfiedLinkError} when the native library is not there; see {@link
 * Recorder}.
 */
public final class Debug {
    /**
     * Flag of {@link #startMethodTracing(String, int, int)}: count allocations too. Their number
     * and bytes then are in the file, where the machine can tell.
     */
    public static final int TRACE_COUNT_ALLOCS = 1;

    private static final String DEFAULT_NAME = "dmtrace";
    private static final String ENDING = ".trace";
    private static final int DEFAULT_BUFFER = 8 << 20;
    private static final int MIN_BUFFER = 1024;

    private Debug() {}

    /**
     * Starts to record calls into {@code dmtrace.trace}, with a buffer of 8 MiB.
     *
     * @throws RuntimeException the file cannot be opened
     */
    public static void startMethodTracing() {
        startMethodTracing(DEFAULT_NAME, 0, 0);
    }

    /**
     * Starts to record calls, with a buffer of 8 MiB.
     *
     * @param traceName of the file; null: {@code dmtrace}
     * @throws IllegalArgumentException the name is empty
     * @throws RuntimeException the file cannot be opened
     */
    public static void startMethodTracing(String traceName) {
        startMethodTracing(traceName, 0, 0);
    }

    /**
     * Starts to record calls.
     *
     * @param traceName of the file; null: {@code dmtrace}
     * @param bufferSize bytes of records that are kept at most; 0: 8 MiB
     * @throws IllegalArgumentException the name is empty, or the buffer is one of 1 to 1023 bytes
     * @throws RuntimeException the file cannot be opened
     */
    public static void startMethodTracing(String traceName, int bufferSize) {
        startMethodTracing(traceName, bufferSize, 0);
    }

    /**
     * Starts to record calls.
     *
     * @param traceName of the file; null: {@code dmtrace}
     * @param bufferSize bytes of records that are kept at most; 0: 8 MiB
     * @param flags 0 or {@link #TRACE_COUNT_ALLOCS}; other bits mean nothing
     * @throws IllegalArgumentException the name is empty, or the buffer is one of 1 to 1023 bytes
     * @throws RuntimeException the file cannot be opened
     */
    public static void startMethodTracing(String traceName, int bufferSize, int flags) {
        begin(traceName, bufferSize, (flags & TRACE_COUNT_ALLOCS) != 0, 0);
    }

    /**
     * Starts to look at the stacks of all threads at a steady rate. What a stack has gained since
     * the last look is recorded as entered, what it has lost as left, both at the time of the look:
     * a call shorter than the interval is seen rarely, or not at all. No class is changed.
     *
     * @param traceName of the file; null: {@code dmtrace}
     * @param bufferSize bytes of records that are kept at most; 0: 8 MiB
     * @param intervalUs microseconds from one look to the next; less than 100 counts as that
     * @throws IllegalArgumentException the name is empty, or the buffer is one of 1 to 1023 bytes
     * @throws RuntimeException the interval is less than 1, or the file cannot be opened
     */
    public static void startMethodTracingSampling(
            String traceName, int bufferSize, int intervalUs) {
        if (intervalUs <= 0) {
            throw new RuntimeException("Invalid sampling interval: " + intervalUs);
        }
        begin(traceName, bufferSize, false, Math.max(intervalUs, 100));
    }

    /**
     * Stops the recording of calls, by whose order it may be, and writes the file; without one it
     * does nothing.
     *
     * @throws RuntimeException the file cannot be written
     */
    public static void stopMethodTracing() {
        Recorder.load();
        String why = stop();
        if (why != null) {
            throw new RuntimeException("Trace data write failed: " + why);
        }
    }

    private static void begin(String name, int buffer, boolean allocations, int intervalUs) {
        String path = name == null ? DEFAULT_NAME : name;
        if (path.isEmpty()) {
            throw new IllegalArgumentException("traceName is empty");
        }
        if (buffer != 0 && buffer < MIN_BUFFER) {
            throw new IllegalArgumentException("buffer size < 1024: " + buffer);
        }
        if (!path.endsWith(ENDING)) {
            path += ENDING;
        }
        Recorder.load();
        byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
        String why = start(bytes, buffer == 0 ? DEFAULT_BUFFER : buffer, allocations, intervalUs);
        if (why != null) {
            throw new RuntimeException("Unable to open trace file '" + path + "': " + why);
        }
    }

    /** Null, or why not. */
    private static native String start(
            byte[] path, int bufferSize, boolean allocations, int intervalUs);

    private static native String stop();
}
