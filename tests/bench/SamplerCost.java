// SPDX-License-Identifier: Apache-2.0
import java.io.FileWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;

/** The same work again and again, with the sampler and without; prints the CPU time of each. */
public class SamplerCost {
    static volatile long sink;

    static long spin(long n, long x) {
        for (long i = 0; i < n; i++) {
            x = x * 6364136223846793005L + 1;
        }
        return x;
    }

    static long text(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += Integer.toString(i).hashCode();
        }
        return sum;
    }

    static void work(int rounds) {
        for (int i = 0; i < rounds; i++) {
            sink += spin(100_000, sink) + text(2000);
        }
    }

    static long measure(int rounds) {
        long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        work(rounds);
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start;
    }

    static void order(String fifo, String word) throws IOException, InterruptedException {
        try (FileWriter to = new FileWriter(fifo)) {
            to.write(word + "\n");
        }
        Thread.sleep(100);
    }

    /** The agent's fifo, pairs of measurements, rounds of work in each. */
    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[2]);
        work(rounds);
        for (int pair = 0; pair < Integer.parseInt(arguments[1]); pair++) {
            long without = measure(rounds);
            order(arguments[0], "start");
            long with = measure(rounds);
            order(arguments[0], "stop");
            System.out.println(without + " " + with);
        }
    }
}
