// SPDX-License-Identifier: Apache-2.0
import java.util.function.IntSupplier;

/** Calls whose numbers are known by counting: the expected ones stand in counts.txt. */
public class Program {
    static class Parent {
        final Object kept;

        Parent(Object kept) {
            this.kept = kept;
        }
    }

    static class Child extends Parent {
        static Object refuse(int n) {
            if (n > 2) {
                throw new IllegalArgumentException("n");
            }
            return n;
        }

        // Objects, a branch and a call that throws before the object is one.
        Child(int n) {
            super(n % 2 == 0 ? new Parent(new Parent(null)) : refuse(n));
        }

        Child() {
            this(0);
        }
    }

    interface Shape {
        double area();

        default double twice() {
            return 2 * area();
        }
    }

    record Square(double side) implements Shape {
        public double area() {
            return side * side;
        }
    }

    enum Colour { RED, GREEN, BLUE }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static void thrower(int i) {
        if (i % 2 == 0) {
            throw new IllegalStateException("x" + i);
        }
    }

    static void between(int i) {
        thrower(i);
    }

    static int catcher(int i) {
        try {
            between(i);
            return 1;
        } catch (IllegalStateException e) {
            return 0;
        } finally {
            last();
        }
    }

    static void last() {
    }

    // The first instruction is the target of a jump.
    static long loop(long n) {
        do {
            n = n * 31 + 7;
        } while (n % 10 != 3 && n < 1L << 40);
        return n;
    }

    static int dense(int i) {
        switch (i) {
            case 0: return 10;
            case 1: return 20;
            case 2: return 30;
            default: return -1;
        }
    }

    static String sparse(int i) {
        switch (i) {
            case -1000000: return "low";
            case 5: return "five";
            case 1000000: return "high";
            default: return "other";
        }
    }

    static int words(String word) {
        switch (word) {
            case "low": return 1;
            case "five": return 2;
            default: return 3;
        }
    }

    static synchronized int locked(Object lock, int i) {
        synchronized (lock) {
            if (i == 3) {
                throw new IllegalStateException("locked");
            }
            synchronized (Program.class) {
                return i;
            }
        }
    }

    static int lockedAll(Object lock) {
        int sum = 0;
        for (int i = 0; i < 5; i++) {
            try {
                sum += locked(lock, i);
            } catch (IllegalStateException e) {
                sum += 100;
            }
        }
        return sum;
    }

    // What is called after it was caught stands in the catcher, not in the constructor.
    static void afterwards() {
    }

    static int children() {
        int failed = 0;
        for (int i = 0; i < 5; i++) {
            try {
                new Child(i);
            } catch (IllegalArgumentException e) {
                failed++;
                afterwards();
            }
        }
        new Child();
        return failed;
    }

    static double doubles(double a, float b, long c) {
        return a + b + c;
    }

    static int lambda(IntSupplier supplier) {
        return supplier.getAsInt() + supplier.getAsInt();
    }

    static native void never();

    public static void main(String[] arguments) throws Exception {
        long sum = fib(12) + loop(1) + lockedAll(new Object()) + children();
        for (int i = 0; i < 10; i++) {
            sum += catcher(i);
        }
        for (int i = 0; i < 4; i++) {
            sum += dense(i) + words(sparse(i * 5));
        }
        for (Colour colour : Colour.values()) {
            sum += colour.ordinal();
        }
        sum += (long) new Square(3).twice() + lambda(() -> 21) + (long) doubles(1, 2, 3);
        sum += Large.wide(1) + Large.far(3);
        Thread worker = new Thread(() -> {
            for (int i = 0; i < 4; i++) {
                catcher(i);
            }
            throw new IllegalStateException("end of the worker");
        }, "worker-1");
        worker.setUncaughtExceptionHandler((thread, error) -> { });
        worker.start();
        worker.join();
        System.out.println("sum " + sum);
        if (arguments.length > 0) {
            Class.forName(arguments[0]).getMethod("print").invoke(null);
        }
    }
}
