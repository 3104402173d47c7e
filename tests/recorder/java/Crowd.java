// SPDX-License-Identifier: Apache-2.0

/** Threads that begin and end all the time, some working, some asleep. */
public class Crowd {
    static volatile long sink;

    static void turn(int n) throws InterruptedException {
        if (n % 3 == 0) {
            Thread.sleep(1);
        }
        for (int i = 0; i < 20_000; i++) {
            sink += Integer.toString(i).hashCode();
        }
    }

    static void work(int n) {
        try {
            turn(n);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < Integer.parseInt(arguments[0]); round++) {
            Thread[] threads = new Thread[16];
            for (int i = 0; i < threads.length; i++) {
                int n = i;
                threads[i] = new Thread(() -> work(n), "crowd-" + i);
                threads[i].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        System.out.println("done");
    }
}
