// SPDX-License-Identifier: Apache-2.0

/** What a class of Java 1.5 can do: no frames, another verifier. */
public class Old {
    static class Parent {
        Parent(Object kept) {
        }
    }

    static class Child extends Parent {
        Child(int n) {
            super(n > 1 ? new Object() : new Parent(null));
        }
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static synchronized int careful(Object lock, int i) {
        try {
            synchronized (lock) {
                if (i == 2) {
                    throw new IllegalStateException("two");
                }
            }
            switch (i) {
                case 0: return 4;
                case 1: return 5;
                default: return 6;
            }
        } finally {
            new Child(i);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int sum = fib(10);
        for (int i = 0; i < 4; i++) {
            try {
                sum += careful(new Object(), i);
            } catch (IllegalStateException e) {
                sum += 1000;
            }
        }
        System.out.println("sum " + sum);
        if (arguments.length > 0) {
            Class.forName(arguments[0]).getMethod("print").invoke(null);
        }
    }
}
