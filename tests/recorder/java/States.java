// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CountDownLatch;

/**
 * A thread that works and threads that wait, each in another way; or one that calls itself so deep
 * and works there.
 */
public class States {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static volatile long sink;

    static void spin(int n) {
        long x = sink;
        for (int i = 0; i < n; i++) {
            x = x * 6364136223846793005L + 1;
        }
        sink = x;
    }

    /** Works for so many seconds of the thread's own processor time. */
    static void work(long seconds) {
        long end = CLOCK.getCurrentThreadCpuTime() + seconds * 1_000_000_000L;
        while (CLOCK.getCurrentThreadCpuTime() < end) {
            spin(100_000);
        }
    }

    static int down(int depth, long seconds) {
        if (depth == 0) {
            work(seconds);
            return 0;
        }
        return down(depth - 1, seconds) + 1;
    }

    /** The system waits for a connection, and the machine says RUNNABLE. */
    static void accept(ServerSocket socket) {
        try {
            socket.accept();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static void sleep() {
        try {
            Thread.sleep(600_000);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void start(String name, Runnable run) {
        Thread thread = new Thread(run, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = Long.parseLong(arguments[1]);
        if (arguments[0].equals("deep")) {
            int depth = Integer.parseInt(arguments[2]);
            Thread thread =
                    new Thread(null, () -> down(depth, seconds), "deep", 512L << 20);
            thread.start();
            thread.join();
            return;
        }
        ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        start("acceptor", () -> accept(socket));
        start("sleeper", States::sleep);
        start("waiter", () -> await(new CountDownLatch(1)));
        work(seconds);
    }
}
