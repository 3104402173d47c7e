// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;

/** What a call costs, rewritten or not: the median of some repetitions (7, or as told), CPU time, in ns a call. */
public class RecordedCalls {
    static final int NUMBER = 27, CALLS = 635621, WARM_UP = 8, REPETITIONS = 7;

    static int fib(int number) {
        return number < 2 ? number : fib(number - 1) + fib(number - 2);
    }

    public static void main(String[] arguments) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        int repetitions = arguments.length > 0 ? Integer.parseInt(arguments[0]) : REPETITIONS;
        double[] times = new double[repetitions];
        for (int i = -WARM_UP; i < repetitions; i++) {
            long start = threads.getCurrentThreadCpuTime();
            fib(NUMBER);
            if (i >= 0)
                times[i] = (threads.getCurrentThreadCpuTime() - start) / (double) CALLS;
        }
        Arrays.sort(times);
        System.out.printf(Locale.ROOT, "ns %.2f%n", times[repetitions / 2]);
    }
}
