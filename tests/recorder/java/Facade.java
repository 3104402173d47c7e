// SPDX-License-Identifier: Apache-2.0

import android.os.Debug;
import dalvik.system.SamplingProfiler;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** What Java code can ask of the recorder: a case by name. Ends with "fine", or an exception. */
public class Facade {
    interface Act {
        void run() throws Exception;
    }

    static void check(boolean condition, Object what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    static void fails(Class<? extends Throwable> type, String message, Act act) {
        try {
            act.run();
        } catch (Throwable thrown) {
            check(thrown.getClass() == type, thrown);
            check(message == null || message.equals(thrown.getMessage()), thrown);
            return;
        }
        throw new AssertionError("nothing thrown: " + message);
    }

    static String text(SamplingProfiler profiler) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        profiler.writeHprofData(new PrintStream(bytes));
        return bytes.toString();
    }

    static void waitFor(AtomicInteger counter, int least) throws InterruptedException {
        while (counter.get() < least) {
            Thread.sleep(1);
        }
    }

    // ---- threads that are where they are known to be ----

    static volatile boolean done;

    static class Spinner extends Thread {
        volatile boolean inside;

        Spinner(ThreadGroup group, String name) {
            super(group, name);
            setDaemon(true);
        }

        @Override
        public void run() {
            spin(); // line SPINNER_RUN
        }

        // All of it on one line, so that every sample is of that line.
        void spin() { for (; !done; ) inside = true; } // line SPINNER_SPIN

        Spinner spinning() {
            start();
            while (!inside) {
                Thread.yield();
            }
            return this;
        }
    }

    static Spinner spinner(ThreadGroup group, String name) {
        return new Spinner(group, name);
    }

    /** Says one thing at each look, the last one for ever. */
    static class Script implements SamplingProfiler.ThreadSet {
        final AtomicInteger looks = new AtomicInteger();
        final Thread[][] says;

        Script(Thread[]... says) {
            this.says = says;
        }

        @Override
        public Thread[] threads() {
            return says[Math.min(looks.getAndIncrement(), says.length - 1)];
        }

        /** Samples until all was said and looked at. */
        String play(SamplingProfiler profiler) throws InterruptedException {
            profiler.start(1000);
            waitFor(looks, says.length + 1);
            profiler.stop();
            return text(profiler);
        }
    }

    static Thread[] list(Thread... threads) {
        return threads;
    }

    // ---- the sampling profiler ----

    static final String HEAD = "rank   self  accum   count trace method\n";

    /** The lines as the format strings of the seed make them, with Java's own formatter. */
    static String rank(int rank, int count, int total, int accumulated, int id, String method) {
        return String.format(Locale.ROOT, "% 4d% 6.2f%%% 6.2f%% % 7d % 5d %s\n", rank,
                100.0 * count / total, 100.0 * accumulated / total, count, id, method);
    }

    static String date(Date now) {
        return String.format(Locale.ROOT, "%ta %tb %td %tT %tY", now, now, now, now, now);
    }

    /** The date of one of the seconds, from first to last, that the text has. */
    static String secondIn(String text, long first, long last) {
        for (long second = first; second < last; second++) {
            if (text.contains(date(new Date(second * 1000)))) {
                return date(new Date(second * 1000));
            }
        }
        return date(new Date(last * 1000));
    }

    static int line(String mark) throws IOException {
        List<String> lines = java.nio.file.Files.readAllLines(
                new File(System.getProperty("source")).toPath());
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).endsWith("// line " + mark)) {
                return i + 1;
            }
        }
        throw new AssertionError(mark);
    }

    static void golden() throws Exception {
        ThreadGroup group = new ThreadGroup("golden");
        Thread a = spinner(group, "a").spinning();
        Thread b = spinner(new ThreadGroup(group, "inner"), "b \u00e9\u4e2d").spinning();
        Thread[] none = {};
        Script script = new Script(list(a), list(a), list(b, a), list(a, null, b), list(a, a),
                list(null, a), list(b), none);
        SamplingProfiler profiler = new SamplingProfiler(2, script);
        long start = System.currentTimeMillis() / 1000;
        String text = script.play(profiler);
        String now = secondIn(text, start, System.currentTimeMillis() / 1000);
        String stack = "\tFacade$Spinner.spin(Facade.java:" + line("SPINNER_SPIN") + ")\n"
                + "\tFacade$Spinner.run(Facade.java:" + line("SPINNER_RUN") + ")\n";
        // By hand: a is counted 1, 1, 1, 1, 2, 0 times, b at the third and the seventh look. At the
        // fourth b is after a null: not sampled, but of the set; it leaves at the fifth.
        String before = "THREAD START (obj=1, id = 200001, name=\"a\", group=\"golden\")\n"
                + "THREAD START (obj=2, id = 200002, name=\"b \u00e9\u4e2d\", group=\"inner\")\n"
                + "THREAD END (id = 200002)\n"
                + "THREAD START (obj=3, id = 200003, name=\"b \u00e9\u4e2d\", group=\"inner\")\n"
                + "THREAD END (id = 200001)\n"
                + "THREAD END (id = 200003)\n";
        String expected = events(before, stack, now);
        check(expected.equals(text), text + "---\n" + expected);
        check(text.equals(text(profiler)) || !now.equals(date(new Date())), "written twice");
        done = true;
    }

    static String events(String before, String stack, String now) {
        return before + "TRACE 300001: (thread=200001)\n" + stack
                + "TRACE 300002: (thread=200002)\n" + stack
                + "TRACE 300003: (thread=200003)\n" + stack
                + "CPU SAMPLES BEGIN (total = 8) " + now + "\n" + HEAD
                + rank(1, 6, 8, 6, 300001, "Facade$Spinner.spin")
                + rank(2, 1, 8, 7, 300002, "Facade$Spinner.spin")
                + rank(3, 1, 8, 8, 300003, "Facade$Spinner.spin") + "CPU SAMPLES END\n";
    }

    static void empty() throws Exception {
        Script script = new Script(list(), list());
        SamplingProfiler profiler = new SamplingProfiler(12, script);
        check(text(profiler).startsWith("CPU SAMPLES BEGIN (total = 0) "), "before the first look");
        String text = script.play(profiler);
        check(text.startsWith("CPU SAMPLES BEGIN (total = 0) "), text);
        check(text.endsWith("\n" + HEAD + "CPU SAMPLES END\n"), text);
        // No depth, no stack: threads alone.
        Thread a = spinner(null, "a").spinning();
        for (int depth : new int[] {0, -1, Integer.MIN_VALUE}) {
            Script one = new Script(list(a), list(a));
            text = one.play(new SamplingProfiler(depth, one));
            check(text.startsWith("THREAD START (obj=1, id = 200001, name=\"a\","), text);
            check(text.contains("(total = 0)"), text);
        }
        Script deep = new Script(list(a), list(a));
        text = deep.play(new SamplingProfiler(Integer.MAX_VALUE, deep));
        check(text.contains("\tFacade$Spinner.run(Facade.java"), text);
    }

    static void exceptions() throws Exception {
        fails(NullPointerException.class, "threads == null",
                () -> SamplingProfiler.newArrayThreadSet((Thread[]) null));
        fails(NullPointerException.class, "threadGroup == null",
                () -> SamplingProfiler.newThreadGroupTheadSet(null));
        fails(NullPointerException.class, "threadGroup == null",
                () -> SamplingProfiler.newThreadGroupThreadSet(null));
        fails(NullPointerException.class, "threadSet == null",
                () -> new SamplingProfiler(4, null));
        SamplingProfiler profiler = new SamplingProfiler(
                4, SamplingProfiler.newArrayThreadSet(Thread.currentThread()));
        for (int rate : new int[] {0, -1, Integer.MIN_VALUE}) {
            fails(IllegalArgumentException.class, "samplesPerSecond < 1",
                    () -> profiler.start(rate));
        }
        profiler.stop();
        profiler.start(Integer.MAX_VALUE);
        fails(IllegalStateException.class, "profiling already started", () -> profiler.start(10));
        fails(IllegalArgumentException.class, "samplesPerSecond < 1", () -> profiler.start(0));
        File file = new File("while.txt");
        fails(IllegalStateException.class, "cannot print hprof data while sampling",
                () -> profiler.writeHprofData(System.out));
        fails(IllegalStateException.class, "cannot print hprof data while sampling",
                () -> profiler.writeHprofData(file));
        check(!file.exists(), "a file while sampling");
        profiler.stop();
        profiler.stop();
        fails(FileNotFoundException.class, null,
                () -> profiler.writeHprofData(new File("no/folder/x")));
        fails(NullPointerException.class, null, () -> profiler.writeHprofData((File) null));
        fails(NullPointerException.class, null,
                () -> profiler.writeHprofData((PrintStream) null));
        profiler.start(100);
        profiler.shutdown();
        profiler.shutdown();
        profiler.stop();
        fails(IllegalStateException.class, "Timer already cancelled.", () -> profiler.start(10));
        check(text(profiler).endsWith("CPU SAMPLES END\n"), "after the shutdown");
        if (new File("/dev/full").exists()) {
            fails(IOException.class, null, () -> profiler.writeHprofData(new File("/dev/full")));
        }
    }

    /** Samples add up, and a thread has one START however often sampling stops. */
    static void again() throws Exception {
        Thread a = spinner(null, "a").spinning();
        AtomicInteger looks = new AtomicInteger();
        Thread[] array = {a, null, null};
        SamplingProfiler profiler = new SamplingProfiler(1, () -> {
            looks.incrementAndGet();
            return array;
        });
        long total = 0;
        for (int i = 1; i <= 3; i++) {
            profiler.start(1000);
            waitFor(looks, 10 * i);
            profiler.stop();
            int seen = looks.get();
            Thread.sleep(20);
            check(looks.get() == seen, "looks after the stop");
            String text = text(profiler);
            check(text.contains("(total = " + seen + ")"), text);
            check(text.indexOf("START") == text.lastIndexOf("START"), text);
            check(!text.contains("END ("), text);
        }
        File file = new File("again.txt");
        profiler.shutdown();
        profiler.writeHprofData(file);
        check(file.length() == text(profiler).length(), "file and stream");
    }

    /** A stack has one TRACE, also when its methods are rewritten while it is sampled. */
    static void rewritten() throws Exception {
        Thread a = spinner(null, "a").spinning();
        AtomicInteger looks = new AtomicInteger();
        SamplingProfiler profiler = new SamplingProfiler(9, () -> {
            looks.incrementAndGet();
            return list(a);
        });
        profiler.start(1000);
        waitFor(looks, 10);
        Debug.startMethodTracing("rewritten");
        waitFor(looks, looks.get() + 10);
        Debug.stopMethodTracing();
        profiler.shutdown();
        String text = text(profiler);
        check(text.indexOf("TRACE 3") == text.lastIndexOf("TRACE 3"), text);
        done = true;
    }

    static volatile boolean inside;

    /** A stop waits for the look under way. */
    static void waiting() throws Exception {
        SamplingProfiler profiler = new SamplingProfiler(4, () -> {
            inside = true;
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            inside = false;
            return list();
        });
        for (int i = 0; i < 10; i++) {
            profiler.start(1000);
            while (!inside) {
                Thread.yield();
            }
            profiler.stop();
            check(!inside, "a look after the stop");
        }
    }

    /** What a look was given is not held on to. */
    static void references() throws Exception {
        List<WeakReference<Thread>> given = Collections.synchronizedList(new ArrayList<>());
        SamplingProfiler profiler = new SamplingProfiler(4, () -> {
            Thread thread = new Thread("unborn");
            given.add(new WeakReference<>(thread));
            return list(thread, Thread.currentThread());
        });
        profiler.start(1000);
        while (given.size() < 20) {
            Thread.sleep(1);
        }
        for (int i = 0; i < 500 && given.get(0).get() != null; i++) {
            System.gc();
            Thread.sleep(2);
        }
        check(given.get(0).get() == null, "a reference is held");
        profiler.shutdown();
    }

    /** Dead threads END, unborn ones are not there yet, and what lies after a null is not seen. */
    static void births() throws Exception {
        Thread first = spinner(null, "first").spinning();
        Thread later = spinner(null, "later");
        CountDownLatch latch = new CountDownLatch(1);
        Thread mortal = new Thread(() -> await(latch), "mortal");
        Thread dead = new Thread(() -> {}, "dead");
        dead.start();
        dead.join();
        mortal.start();
        AtomicInteger looks = new AtomicInteger();
        Thread[] array = {first, dead, mortal, later, null, Thread.currentThread()};
        SamplingProfiler.ThreadSet inner = SamplingProfiler.newArrayThreadSet(array);
        SamplingProfiler profiler = new SamplingProfiler(30, () -> {
            looks.incrementAndGet();
            return inner.threads();
        });
        profiler.start(1000);
        waitFor(looks, 5);
        latch.countDown();
        mortal.join();
        waitFor(looks, looks.get() + 3);
        later.start();
        waitFor(looks, looks.get() + 3);
        profiler.shutdown();
        String text = text(profiler);
        String[] lines = text.split("\n");
        check(lines[0].startsWith("THREAD START (obj=1, id = 200001, name=\"first\""), text);
        check(lines[1].startsWith("THREAD START (obj=2, id = 200002, name=\"mortal\""), text);
        check(lines[2].startsWith("THREAD START (obj=3, id = 200003, name=\"main\""), text);
        check(lines[3].equals("THREAD END (id = 200002)"), text);
        check(lines[4].startsWith("THREAD START (obj=4, id = 200004, name=\"later\""), text);
        check(text.contains("(thread=200002)"), text);
        check(!text.contains("(thread=200003)"), text);
        check(!text.contains("dead"), text);
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** A group is asked anew at every look, with the groups within. */
    static void groups() throws Exception {
        ThreadGroup group = new ThreadGroup("group");
        ThreadGroup within = new ThreadGroup(group, "within");
        SamplingProfiler.ThreadSet[] sets = {SamplingProfiler.newThreadGroupTheadSet(group),
                SamplingProfiler.newThreadGroupThreadSet(group)};
        CountDownLatch latch = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        SamplingProfiler[] profilers = new SamplingProfiler[2];
        AtomicInteger[] looks = {new AtomicInteger(), new AtomicInteger()};
        for (int i = 0; i < 2; i++) {
            int number = i;
            profilers[i] = new SamplingProfiler(9, () -> {
                looks[number].incrementAndGet();
                return sets[number].threads();
            });
            profilers[i].start(500 + i);
            waitFor(looks[i], 2); // of a group without threads
        }
        for (int i = 0; i < 40; i++) {
            threads.add(new Thread(i % 2 == 0 ? group : within, () -> await(latch), "t" + i));
            threads.get(i).start();
        }
        for (AtomicInteger look : looks) {
            waitFor(look, look.get() + 3);
        }
        latch.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        for (int i = 0; i < 2; i++) {
            waitFor(looks[i], looks[i].get() + 3);
            profilers[i].shutdown();
            String text = text(profilers[i]);
            check(text.split("THREAD START").length == 41, text);
            check(text.split("THREAD END").length == 41, text);
            check(text.split("group=\"within\"").length == 21, text);
            check(!text.contains("SamplingProfiler"), text);
        }
    }

    /** A set that throws ends the profiler, as it does a Timer. */
    static void throwing() throws Exception {
        AtomicReference<Throwable> caught = new AtomicReference<>();
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {
            if (thread.getName().equals("SamplingProfiler")) {
                caught.set(thrown);
            }
        });
        SamplingProfiler.ThreadSet[] sets = {
            () -> {
                throw new IllegalStateException("on purpose");
            },
            () -> null};
        String[] messages = {"on purpose", "threads() == null"};
        for (int i = 0; i < sets.length; i++) {
            SamplingProfiler profiler = new SamplingProfiler(4, sets[i]);
            profiler.start(100);
            while (caught.get() == null) {
                Thread.sleep(1);
            }
            check(messages[i].equals(caught.getAndSet(null).getMessage()), messages[i]);
            fails(IllegalStateException.class, null, () -> profiler.start(10));
            profiler.stop();
            fails(IllegalStateException.class, "Timer already cancelled.",
                    () -> profiler.start(10));
            check(text(profiler).contains("(total = 0)"), "written all the same");
            profiler.shutdown();
        }
    }

    static SamplingProfiler itself;

    /** A set may turn the profiler that asks it. */
    static void turning() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        itself = new SamplingProfiler(4, () -> {
            itself.stop();
            if (looks.incrementAndGet() < 5) {
                itself.start(1000);
            } else {
                itself.shutdown();
            }
            return list(Thread.currentThread());
        });
        itself.start(1000);
        waitFor(looks, 5);
        itself.stop();
        check(text(itself).contains("(total = 0)"), "the sampler is not sampled");
        fails(IllegalStateException.class, null, () -> itself.start(1));
    }

    /** Many, together, some of them forgotten while they run. */
    static void many() throws Exception {
        Thread main = Thread.currentThread();
        for (int round = 0; round < 20; round++) {
            List<SamplingProfiler> kept = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                SamplingProfiler profiler =
                        new SamplingProfiler(i, SamplingProfiler.newArrayThreadSet(main));
                if (i % 3 != 0) {
                    profiler.start(200);
                }
                if (i % 2 != 0) {
                    kept.add(profiler);
                }
            }
            Thread.sleep(5);
            for (SamplingProfiler profiler : kept) {
                profiler.shutdown();
                check(text(profiler).endsWith("CPU SAMPLES END\n"), "a text");
            }
            System.gc();
        }
    }

    // ---- 50, 30, 20 ----

    static volatile long sink;

    static long work(long n, long x) {
        for (long i = 0; i < n; i++) {
            x = x * 6364136223846793005L + 1;
        }
        return x;
    }

    static void fifty() {
        sink = work(500_000, sink);
    }

    static void thirty() {
        sink = work(300_000, sink);
    }

    static void twenty() {
        sink = work(200_000, sink);
    }

    static void split(int seconds) {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            fifty();
            thirty();
            twenty();
        }
    }

    static void shares(int seconds) throws Exception {
        SamplingProfiler profiler = new SamplingProfiler(
                12, SamplingProfiler.newArrayThreadSet(Thread.currentThread()));
        profiler.start(1000);
        split(seconds);
        profiler.stop();
        profiler.shutdown();
        profiler.writeHprofData(new File("shares.txt"));
    }

    // ---- the trace of calls ----

    static int calls;

    static void leaf() {
        calls++;
    }

    static void branch(int depth) {
        leaf();
        if (depth > 0) {
            branch(depth - 1);
        }
    }

    static void thrower() {
        leaf();
        throw new IllegalStateException("on purpose");
    }

    static void catcher() {
        try {
            thrower();
        } catch (IllegalStateException e) {
            leaf();
        }
    }

    /** leaf 3 * 5 + 2 * 2 + 7 = 26, branch 15, thrower 2, catcher 2. */
    static void known() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            branch(4);
        }
        catcher();
        catcher();
        Thread thread = new Thread(Facade::inThread, "worker");
        thread.start();
        thread.join();
    }

    static void inThread() {
        for (int i = 0; i < 7; i++) {
            leaf();
        }
    }

    static void trace() throws Exception {
        leaf();
        Debug.startMethodTracing("counted");
        known();
        Debug.stopMethodTracing();
        leaf();
        check(new File("counted.trace").isFile() && !new File("counted").exists(), "its name");
        Debug.startMethodTracing(new File("second.trace").getAbsolutePath(), 1 << 20);
        known();
        Debug.stopMethodTracing();
        Debug.startMethodTracing("third", 0, Debug.TRACE_COUNT_ALLOCS);
        known();
        Debug.stopMethodTracing();
    }

    static volatile byte[] made;

    static void make() {
        for (int i = 0; i < 20_000; i++) {
            made = new byte[1000];
        }
    }

    static void allocations() throws Exception {
        for (int flags : new int[] {Debug.TRACE_COUNT_ALLOCS, 2}) {
            Debug.startMethodTracing("flags" + flags, 0, flags);
            Thread thread = new Thread(Facade::make);
            thread.start();
            thread.join();
            System.gc();
            Debug.stopMethodTracing();
        }
    }

    static void names() throws Exception {
        Debug.stopMethodTracing();
        Debug.startMethodTracing();
        check(!new File("dmtrace.trace").exists(), "not before the stop");
        Debug.stopMethodTracing();
        check(new File("dmtrace.trace").delete(), "the default");
        Debug.stopMethodTracing();
        Debug.startMethodTracing(null);
        Debug.stopMethodTracing();
        check(new File("dmtrace.trace").delete(), "null is the default");
        Debug.startMethodTracing("a.b");
        Debug.stopMethodTracing();
        check(new File("a.b.trace").delete(), "another ending");
        Debug.startMethodTracing("\u00e9\u4e2d");
        Debug.stopMethodTracing();
        check(!new File("dmtrace.trace.part").exists(), "nothing half");
    }

    static void wrong() throws Exception {
        fails(IllegalArgumentException.class, "traceName is empty",
                () -> Debug.startMethodTracing(""));
        for (int size : new int[] {1, 1023, -1, Integer.MIN_VALUE}) {
            fails(IllegalArgumentException.class, "buffer size < 1024: " + size,
                    () -> Debug.startMethodTracing("x", size));
            fails(IllegalArgumentException.class, "buffer size < 1024: " + size,
                    () -> Debug.startMethodTracingSampling("x", size, 1000));
        }
        for (int interval : new int[] {0, -1}) {
            fails(RuntimeException.class, "Invalid sampling interval: " + interval,
                    () -> Debug.startMethodTracingSampling("x", 0, interval));
        }
        String no = "Unable to open trace file 'no/folder.trace': No such file or directory";
        fails(RuntimeException.class, no, () -> Debug.startMethodTracing("no/folder"));
        fails(RuntimeException.class, no,
                () -> Debug.startMethodTracingSampling("no/folder", 0, 1000));
        fails(RuntimeException.class, "Unable to open trace file 'a\0b.trace': Invalid argument",
                () -> Debug.startMethodTracing("a\0b"));
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < 5000; i++) {
            name.append('x');
        }
        fails(RuntimeException.class,
                "Unable to open trace file '" + name + ".trace': File name too long",
                () -> Debug.startMethodTracing(name.toString()));
        check(new File(".").list().length == 0, "files of what failed");
    }

    /** The first goes on, and the second is not there. */
    static void twice() throws Exception {
        Debug.startMethodTracing("first");
        leaf();
        Debug.startMethodTracing("second");
        Debug.startMethodTracingSampling("third", 0, 1000);
        leaf();
        Debug.stopMethodTracing();
        leaf();
        Debug.stopMethodTracing();
    }

    static void overflow() throws Exception {
        Debug.startMethodTracing("overflow", 1024);
        for (int i = 0; i < 10_000; i++) {
            leaf();
        }
        Debug.stopMethodTracing();
    }

    static void sampled(int seconds) throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        Thread other = new Thread(() -> {
            split(1);
            await(latch);
        }, "other");
        Debug.startMethodTracingSampling("sampled", 64 << 20, 1000);
        other.start();
        split(seconds);
        other.setName("set late");
        Debug.stopMethodTracing();
        latch.countDown();
        other.join();
    }

    static void dive(int depth) {
        if (depth > 0) {
            dive(depth - 1);
        }
        split(0);
        sink = work(10_000, sink);
    }

    /** Stacks that come and go fill 406 records soon. */
    static void flood(int seconds) throws Exception {
        Debug.startMethodTracingSampling("flood", 1024, 100);
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            dive(200);
        }
        Debug.stopMethodTracing();
    }

    static void unstopped() throws Exception {
        Debug.startMethodTracing("unstopped");
        leaf();
        new SamplingProfiler(4, () -> list(Thread.currentThread())).start(1000);
        CountDownLatch begun = new CountDownLatch(1);
        SamplingProfiler.ThreadSet slow = () -> {
            begun.countDown();
            try {
                Thread.sleep(600_000);
            } catch (InterruptedException e) {
                return list();
            }
            return list();
        };
        new SamplingProfiler(4, slow).start(1000);
        begun.await();
    }

    static void unstoppedSampled() throws Exception {
        Debug.startMethodTracingSampling("unstopped", 0, 1000);
        split(1);
    }

    static class Refusing {
        Refusing() {
            throw new IllegalStateException();
        }
    }

    static class Refused extends Refusing {
        Refused() {
            super();
        }
    }

    /** Classes are rewritten already, and this method is entered, when the recording begins. */
    static void refusals() {
        Debug.startMethodTracing("refused");
        for (int i = 0; i < 100; i++) {
            try {
                new Refused();
            } catch (IllegalStateException e) {
                leaf();
            }
        }
        Debug.stopMethodTracing();
    }

    static void refused() {
        Debug.startMethodTracing("first");
        Debug.stopMethodTracing();
        refusals();
    }

    /** No file may become so large. */
    static void limited() throws Exception {
        File file = new File("limited.txt");
        SamplingProfiler profiler =
                new SamplingProfiler(4, SamplingProfiler.newArrayThreadSet(Thread.currentThread()));
        fails(IOException.class, "File too large", () -> profiler.writeHprofData(file));
        check(!file.exists(), file);
    }

    public static void main(String[] arguments) throws Exception {
        int number = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0;
        switch (arguments[0]) {
            case "golden": golden(); break;
            case "empty": empty(); break;
            case "exceptions": exceptions(); break;
            case "again": again(); break;
            case "rewritten": rewritten(); break;
            case "waiting": waiting(); break;
            case "references": references(); break;
            case "births": births(); break;
            case "groups": groups(); break;
            case "throwing": throwing(); break;
            case "turning": turning(); break;
            case "many": many(); break;
            case "shares": shares(number); break;
            case "trace": trace(); break;
            case "allocations": allocations(); break;
            case "refused": refused(); break;
            case "limited": limited(); break;
            case "names": names(); break;
            case "wrong": wrong(); break;
            case "twice": twice(); break;
            case "overflow": overflow(); break;
            case "sampled": sampled(number); break;
            case "flood": flood(number); break;
            case "unstopped": unstopped(); break;
            case "unstopped-sampled": unstoppedSampled(); break;
            default: throw new AssertionError(arguments[0]);
        }
        System.out.println("fine");
    }
}
