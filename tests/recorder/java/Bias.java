// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Nearly all of the work is in heavy, which the compiler puts into run: no safepoint lies in it. */
public class Bias {
    static volatile long sink;

    static int heavy(int i) {
        int x = i;
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        x *= 31;
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        x *= 31;
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        x *= 31;
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        return x;
    }

    static int light(int i) {
        return i + 1;
    }

    static int run(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += heavy(sum);
            sum += light(i);
        }
        return sum;
    }

    public static void main(String[] arguments) {
        // By its own processor time, so that the number of samples is that of a machine of its own.
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        long end = clock.getCurrentThreadCpuTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        while (clock.getCurrentThreadCpuTime() < end) {
            sink += run(100_000);
        }
    }
}
