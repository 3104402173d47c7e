// SPDX-License-Identifier: Apache-2.0

/** Ends in the way that is asked for, or works until told to end. */
public class Ends {
    static volatile long sink;

    static long spin(long n, long x) {
        for (long i = 0; i < n; i++) {
            x = x * 6364136223846793005L + 1;
        }
        return x;
    }

    static void a() {
        sink = spin(500_000, sink);
    }

    static void b() {
        sink = spin(300_000, sink);
    }

    static void c() {
        sink = spin(200_000, sink);
    }

    /** Works for so many seconds; on a busy machine, until a quarter of the work is done that a free one does. */
    static void split(int seconds) {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        for (int rounds = 0; System.nanoTime() < end || rounds < 250 * seconds; rounds++) {
            a();
            b();
            c();
        }
    }

    static int work() {
        return 1;
    }

    /** Writes where nothing is: the machine itself has a fault. */
    static void fault() throws Exception {
        java.lang.reflect.Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        ((sun.misc.Unsafe) field.get(null)).putLong(8L, 0L);
    }

    static int overflow(int n) {
        return overflow(n + 1) + 1;
    }

    /** Count the stack traces of exceptions that show the recorder to the program. */
    static void frames() throws Exception {
        int seen = 0;
        for (int i = 0; i < 40; i++) {
            try {
                overflow(0);
            } catch (StackOverflowError e) {
                for (StackTraceElement element : e.getStackTrace()) {
                    seen += element.getClassName().contains("traceview") ? 1 : 0;
                }
            }
        }
        System.out.println(seen + " frames");
        // The hooks are out of such traces by an annotation, which has no effect when it is not known.
        Class<?> hooks = Class.forName("java.traceview.Hooks");
        for (java.lang.reflect.Method method : hooks.getDeclaredMethods()) {
            System.out.println(method.getName() + " "
                + java.util.Arrays.toString(method.getAnnotations()).contains("Hidden"));
        }
    }

    static void ready() {
        System.out.println("ready");
        System.out.flush();
    }

    public static void main(String[] arguments) throws Exception {
        if (System.getProperty("load") != null) {
            Class.forName(System.getProperty("load"));
        }
        switch (arguments[0]) {
            case "exit":
                System.exit(3);
                break;
            case "halt":
                Runtime.getRuntime().halt(4);
                break;
            case "throw":
                throw new IllegalStateException("on purpose");
            case "fault":
                work();
                fault();
                break;
            case "frames":
                frames();
                break;
            case "wait":
                work();
                ready();
                Thread.sleep(600_000);
                break;
            case "loop":
                ready();
                while (!closed()) {
                    int wanted = lines;
                    work();
                    Thread.sleep(1);
                    for (; answered < wanted; answered++) {
                        System.out.println("worked");
                    }
                }
                break;
            case "split":
                split(Integer.parseInt(arguments[1]));
                break;
            case "rename":
                split(Integer.parseInt(arguments[1]));
                Thread.currentThread().setName("renamed");
                split(Integer.parseInt(arguments[1]));
                break;
            case "calls":
                long end = System.nanoTime() + Integer.parseInt(arguments[1]) * 1_000_000_000L;
                while (System.nanoTime() < end) {
                    work();
                }
                break;
            default:
                break;
        }
    }

    /** Lines that came in; each is answered after a call of work() that began later. */
    private static volatile int lines;
    private static int answered;

    private static final Thread input = new Thread(() -> {
        try {
            for (int c = System.in.read(); c >= 0; c = System.in.read()) {
                if (c == '\n') {
                    lines++;
                }
            }
        } catch (java.io.IOException e) {
            return;
        }
    });

    private static boolean closed() {
        if (input.getState() == Thread.State.NEW) {
            input.setDaemon(true);
            input.start();
        }
        return !input.isAlive();
    }
}
