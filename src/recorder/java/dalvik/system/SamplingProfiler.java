// SPDX-License-Identifier: Apache-2.0
package dalvik.system;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import traceview.Recorder;

/**
 * Looks at the stacks of chosen threads at a steady rate and counts what it sees, as Android's class
 * of this name does; the native recorder does the work.
 *
 * <pre>{@code
 * ThreadSet threadSet = SamplingProfiler.newArrayThreadSet(Thread.currentThread());
 * SamplingProfiler profiler = new SamplingProfiler(12, threadSet);
 * profiler.start(10);
 * // what is measured
 * profiler.stop();
 * // what is not
 * profiler.start(10);
 * // what is measured too
 * profiler.stop();
 * profiler.shutdown();
 * profiler.writeHprofData(System.out);
 * }</pre>
 *
 * <p>Every look asks the set for its threads. A thread's START is in the data when a look finds
 * it in the set and alive for the first time, its END when one does so no more; threads that run,
 * wait and sleep count alike. Samples add up over starts and stops. There may be several profilers,
 * each with a set, a rate and samples of its own. A look that comes late is not made up for.
 *
 * <p>Safe for use by several threads.
 */
public final class SamplingProfiler {
    /** Which threads are looked at. */
    public interface ThreadSet {
        /**
         * The threads, asked for at every look, in the profiler's own thread. After the last one
         * the array may hold nulls; threads after a null are not sampled.
         *
         * <p>What this throws ends the profiler, as it ends a {@link java.util.Timer}: it goes to
         * the thread's handler of uncaught exceptions. What was sampled can still be written.
         *
         * @return the threads, not null
         */
        Thread[] threads();
    }

    private static final class ArrayThreadSet implements ThreadSet {
        private final Thread[] threads;

        ArrayThreadSet(Thread... threads) {
            if (threads == null) {
                throw new NullPointerException("threads == null");
            }
            this.threads = threads;
        }

        @Override
        public Thread[] threads() {
            return threads;
        }
    }

    private static final class ThreadGroupThreadSet implements ThreadSet {
        private static final int LEAST = 8;

        private final ThreadGroup threadGroup;
        private Thread[] threads;
        private int last;

        ThreadGroupThreadSet(ThreadGroup threadGroup) {
            if (threadGroup == null) {
                throw new NullPointerException("threadGroup == null");
            }
            this.threadGroup = threadGroup;
            resize();
        }

        /** Larger than needed: only then is it known that all threads had room. */
        private void resize() {
            threads = new Thread[Math.max(LEAST, threadGroup.activeCount() * 2)];
            last = 0;
        }

        @Override
        public Thread[] threads() {
            int count = threadGroup.enumerate(threads);
            while (count == threads.length) {
                resize();
                count = threadGroup.enumerate(threads);
            }
            // Threads that have ended are not held on to.
            for (int i = count; i < last; i++) {
                threads[i] = null;
            }
            last = count;
            return threads;
        }
    }

    /** What remains of a profiler that nobody has any more: the native one, to be released. */
    private static final class Remains extends PhantomReference<SamplingProfiler> {
        private static final ReferenceQueue<SamplingProfiler> QUEUE = new ReferenceQueue<>();
        private static final Set<Remains> ALL = Collections.synchronizedSet(new HashSet<>());

        private final long profiler;

        Remains(SamplingProfiler referent) {
            super(referent, QUEUE);
            profiler = referent.profiler;
            ALL.add(this);
        }

        static void release() {
            for (Object one = QUEUE.poll(); one != null; one = QUEUE.poll()) {
                ALL.remove(one);
                free(((Remains) one).profiler);
            }
        }
    }

    private static final int ALREADY_STARTED = 114; // EALREADY
    private static final int SHUT_DOWN = 108; // ESHUTDOWN

    private final long profiler;

    /**
     * Makes a profiler, which does nothing before {@link #start}.
     *
     * @param depth how many frames of a stack are kept, from the innermost on; what is deeper is
     *     cut, and nothing tells that it was. 4 is a good start. With less than 1 the data tell of
     *     threads alone; more than 65535 counts as that.
     * @param threadSet which threads are looked at
     * @throws NullPointerException there is no set
     * @throws UnsatisfiedLinkError the native library is not there; see {@link Recorder}
     */
    public SamplingProfiler(int depth, ThreadSet threadSet) {
        if (threadSet == null) {
            throw new NullPointerException("threadSet == null");
        }
        Recorder.load();
        Remains.release();
        profiler = make(threadSet, depth);
        if (profiler == 0) {
            throw new OutOfMemoryError("SamplingProfiler");
        }
        new Remains(this);
    }

    /**
     * A set of these threads, which do not change.
     *
     * @param threads is not copied
     * @return the set
     * @throws NullPointerException {@code threads} is null
     */
    public static ThreadSet newArrayThreadSet(Thread... threads) {
        return new ArrayThreadSet(threads);
    }

    /**
     * The set of the threads that are in the group, or in groups within it, at the time of each
     * look. Its name is Android's, misspelling and all.
     *
     * @param threadGroup the outermost group
     * @return the set
     * @throws NullPointerException {@code threadGroup} is null
     */
    public static ThreadSet newThreadGroupTheadSet(ThreadGroup threadGroup) {
        return new ThreadGroupThreadSet(threadGroup);
    }

    /**
     * The same as {@link #newThreadGroupTheadSet}.
     *
     * @param threadGroup the outermost group
     * @return the set
     * @throws NullPointerException {@code threadGroup} is null
     */
    public static ThreadSet newThreadGroupThreadSet(ThreadGroup threadGroup) {
        return new ThreadGroupThreadSet(threadGroup);
    }

    /**
     * Starts to sample, or goes on with it. The first look comes at once.
     *
     * @param samplesPerSecond looks in a second; more than 10000 counts as that
     * @throws IllegalArgumentException {@code samplesPerSecond} is less than 1
     * @throws IllegalStateException it is started, or was shut down
     */
    public void start(int samplesPerSecond) {
        if (samplesPerSecond < 1) {
            throw new IllegalArgumentException("samplesPerSecond < 1");
        }
        int error = start(profiler, samplesPerSecond);
        if (error == ALREADY_STARTED) {
            throw new IllegalStateException("profiling already started");
        }
        if (error == SHUT_DOWN) {
            throw new IllegalStateException("Timer already cancelled.");
        }
        if (error != 0) {
            throw new OutOfMemoryError("no thread for the sampler");
        }
    }

    /**
     * Stops to sample, after the look that is under way; nothing when it is not started. {@link
     * #start} goes on.
     */
    public void stop() {
        stop(profiler);
    }

    /**
     * Stops for good and gives the profiler's thread back. The data can still be written. Harmless
     * when done before.
     */
    public void shutdown() {
        shutDown(profiler);
    }

    /**
     * Writes all samples so far as hprof text in UTF-8.
     *
     * @param file is overwritten
     * @throws IllegalStateException it is started
     * @throws IOException the file cannot be opened, or not be written, and then is gone
     */
    public void writeHprofData(File file) throws IOException {
        byte[] text = text();
        try (FileOutputStream out = new FileOutputStream(file)) {
            try {
                out.write(text);
            } catch (IOException e) {
                if (file.isFile()) {
                    file.delete(); // not a part of it, nor an empty one
                }
                throw e;
            }
        }
    }

    /**
     * Writes all samples so far as hprof text, in the stream's character set: events of threads,
     * then stacks and a table of them by falling count. Like a {@link PrintStream} this throws
     * nothing when the stream cannot be written; its {@code checkError} tells.
     *
     * @param out is flushed, not closed
     * @throws IllegalStateException it is started
     */
    public void writeHprofData(PrintStream out) {
        out.print(new String(text(), StandardCharsets.UTF_8));
        out.flush();
    }

    private byte[] text() {
        byte[] text = write(profiler);
        if (text == null) {
            throw new IllegalStateException("cannot print hprof data while sampling");
        }
        return text;
    }

    private static native long make(ThreadSet threadSet, int depth);

    // Of an instance, so that it is not released meanwhile.
    private native int start(long profiler, int samplesPerSecond);

    private native void stop(long profiler);

    private native void shutDown(long profiler);

    private native byte[] write(long profiler);

    private static native void free(long profiler);
}
