// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/**
 * Virtual threads that call, wait in the middle of calls and go on, on whatever carrier: some with
 * names, one without, once or until there is something to read; or one that works. For Java 21 and
 * later.
 */
public class Virtual {
    static volatile long sink;

    static void spin(int n) {
        long x = sink;
        for (int i = 0; i < n; i++) {
            x = x * 6364136223846793005L + 1;
        }
        sink = x;
    }

    static void inner() throws InterruptedException {
        spin(100);
        Thread.sleep(1);
        spin(100);
    }

    static void outer() throws InterruptedException {
        inner();
        inner();
    }

    static void call(int times) {
        try {
            for (int i = 0; i < times; i++) {
                outer();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void leaf(int n) {
        spin(n);
    }

    /** For so many seconds: processor time of a virtual thread cannot be asked for. */
    static void work(long seconds) {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            leaf(1_000_000);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[1]);
        if (arguments[0].equals("loop")) {
            System.out.println("ready");
            while (System.in.available() == 0) {
                run("call", count);
            }
        } else if (arguments[0].equals("sample")) {
            sample(arguments[2], count);
        } else {
            run(arguments[0], count);
        }
    }

    /** Sample by android.os.Debug, found by name: other cases run without it. */
    private static void sample(String path, int seconds) throws Exception {
        Class<?> debug = Class.forName("android.os.Debug");
        debug.getMethod("startMethodTracingSampling", String.class, int.class, int.class)
                .invoke(null, path, 1 << 20, 2000);
        run("work", seconds);
        debug.getMethod("stopMethodTracing").invoke(null);
    }

    private static void run(String what, int count) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        if (what.equals("work")) {
            threads.add(Thread.ofVirtual().name("worker").start(() -> work(count)));
        } else {
            for (int i = 0; i < count; i++) {
                threads.add(Thread.ofVirtual().name("virtual-" + i).start(() -> call(50)));
            }
            threads.add(Thread.ofVirtual().start(() -> call(50)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
