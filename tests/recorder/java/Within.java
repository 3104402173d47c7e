// SPDX-License-Identifier: Apache-2.0

/** A constructor that makes its own class after super(), and catches what comes of it. */
public class Within {
    static class Base {
        Base(int n) {
            if (n == 0) {
                throw new IllegalStateException();
            }
        }
    }

    static class Nested extends Base {
        Nested(int n) {
            super(n);
            try {
                new Nested(n - 1); // of 0, it throws in super()
            } catch (IllegalStateException e) {
                handle();
            }
            do {
                n--;
            } while (n > 0);
        }
    }

    static void handle() {
    }

    static void work() {
    }

    /** As in handle, at each depth. */
    static void down(int depth) {
        if (depth == 0) {
            work();
        } else {
            down(depth - 1);
            new Nested(2);
            work();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int depth = Integer.parseInt(arguments[0]);
        Thread thread = new Thread(null, () -> down(depth), "deep", 1L << 30);
        thread.start();
        thread.join();
        System.out.println("ready");
    }
}
