// SPDX-License-Identifier: Apache-2.0

/** Makes so many arrays of 1000 bytes, in two threads, and collects garbage so often. */
public class Allocations {
    static volatile byte[] sink;

    static void make(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[1000];
        }
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        Thread thread = new Thread(() -> make(count));
        make(count);
        thread.start();
        thread.join();
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
            System.gc();
        }
    }
}
