// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Work whose shares the program measures itself, by its thread's processor time: what else the
 * machine does changes neither them nor how long it works. The last line has them, in thousandths.
 */
public class Shares {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static final byte[] FROM = new byte[1 << 20];
    private static final byte[] TO = new byte[1 << 20];
    static volatile long sink;

    static long spin(long n, long x) {
        for (long i = 0; i < n; i++) {
            x = x * 6364136223846793005L + 1;
        }
        return x;
    }

    // Times that no rate of samples goes into.
    static void half() {
        sink = spin(5_170_000, sink);
    }

    static void third() {
        sink = spin(3_102_000, sink);
    }

    static void fifth() {
        sink = spin(2_068_000, sink);
    }

    /** All of it in a stub of the machine. */
    static void copy() {
        for (int i = 0; i < 100; i++) {
            System.arraycopy(FROM, 0, TO, 0, FROM.length);
        }
    }

    private static long measure(Runnable work) {
        long start = CLOCK.getCurrentThreadCpuTime();
        work.run();
        return CLOCK.getCurrentThreadCpuTime() - start;
    }

    private static void work(String[] names, Runnable[] works, long wanted) {
        long[] times = new long[works.length];
        long total = 0;
        while (total < wanted) {
            for (int i = 0; i < works.length; i++) {
                long time = measure(works[i]);
                times[i] += time;
                total += time;
            }
        }
        for (int i = 0; i < works.length; i++) {
            System.out.print(names[i] + " " + (times[i] * 1000 + total / 2) / total + " ");
        }
        System.out.println();
    }

    public static void main(String[] arguments) {
        long wanted = Long.parseLong(arguments[1]) * 1_000_000_000L;
        if (arguments[0].equals("split")) {
            work(new String[] {"half", "third", "fifth"},
                    new Runnable[] {Shares::half, Shares::third, Shares::fifth}, wanted);
        } else {
            work(new String[] {"copy", "fifth"}, new Runnable[] {Shares::copy, Shares::fifth}, wanted);
        }
    }
}
