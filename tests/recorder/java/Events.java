// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Allocates, and waits for locks; prints what it measured itself. */
public class Events {
    static volatile Object sink;
    static final Object monitor = new Object();
    static final ReentrantLock lock = new ReentrantLock();

    static long allocated() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        return threads.getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    static void bytes(long total) {
        for (long made = 0; made < total; made += 1016) {
            sink = new byte[1000];
        }
    }

    static void longs(long total) {
        for (long made = 0; made < total; made += 816) {
            sink = new long[100];
        }
    }

    /** Larger than what lies between two samples. */
    static void large(long total) {
        for (long made = 0; made < total; made += 4_000_016) {
            sink = new char[2_000_000];
        }
    }

    static void allocate() {
        long start = allocated();
        bytes(200_000_000);
        long second = allocated();
        longs(100_000_000);
        long third = allocated();
        large(80_000_000);
        System.out.println("bytes " + (second - start));
        System.out.println("longs " + (third - second));
        System.out.println("large " + (allocated() - third));
    }

    static void await(Thread thread, Thread.State state) throws Exception {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    /** Holds it for 200 ms at least from when the other one waits. */
    static long hold(Thread waiter, Thread.State state) throws Exception {
        waiter.start();
        await(waiter, state);
        long start = System.nanoTime();
        do {
            Thread.sleep(200);
        } while (System.nanoTime() - start < 200_000_000);
        return System.nanoTime() - start;
    }

    static long waited;

    static void enterMonitor() {
        long start = System.nanoTime();
        synchronized (monitor) {
            waited = System.nanoTime() - start;
        }
    }

    static void enterLock() {
        long start = System.nanoTime();
        lock.lock();
        waited = System.nanoTime() - start;
        lock.unlock();
    }

    static void parkAlone() {
        long start = System.nanoTime();
        LockSupport.parkNanos(30_000_000);
        waited = System.nanoTime() - start;
    }

    static void print(String what, long least, Object object) {
        System.out.println(what + " " + least + " " + waited + " " + Integer.toHexString(System.identityHashCode(object)));
    }

    static void contend() throws Exception {
        Thread.currentThread().setName("holder of locks");
        Thread waiter = new Thread(Events::enterMonitor, "waits for a monitor");
        long held;
        synchronized (monitor) {
            held = hold(waiter, Thread.State.BLOCKED);
        }
        waiter.join();
        print("monitor", held, monitor);
        waiter = new Thread(Events::enterLock, "waits for a lock");
        lock.lock();
        held = hold(waiter, Thread.State.WAITING);
        lock.unlock();
        waiter.join();
        print("lock", held, lock);
        waiter = new Thread(Events::parkAlone, "parks alone");
        waiter.start();
        waiter.join();
        print("alone", 30_000_000, waiter);
    }

    /** The same by a virtual thread, which JDK 17 does not know; it allocates too. */
    static void virtual() throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Runnable body = () -> {
            bytes(50_000_000);
            enterMonitor();
        };
        Thread waiter = (Thread) Class.forName("java.lang.Thread$Builder")
                .getMethod("unstarted", Runnable.class).invoke(builder, body);
        waiter.setName("waits for a monitor");
        long held;
        synchronized (monitor) {
            held = hold(waiter, Thread.State.BLOCKED);
        }
        waiter.join();
        print("monitor", held, monitor);
    }

    /** Waits on when the program ends. */
    static void deadlock() throws Exception {
        Thread.currentThread().setName("holder of locks");
        Thread waiter = new Thread(Events::enterMonitor, "waits for a monitor");
        waiter.setDaemon(true);
        synchronized (monitor) {
            System.out.println("open " + hold(waiter, Thread.State.BLOCKED));
            System.out.flush();
            Runtime.getRuntime().exit(0);
        }
    }

    /** Many short waits: two threads hand a latch to each other so often. */
    static void shortly(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            CountDownLatch latch = new CountDownLatch(1);
            new Thread(latch::countDown).start();
            latch.await();
            LockSupport.unpark(Thread.currentThread());
            LockSupport.park();
        }
    }

    /** Does all of it after a line, and again, until its input ends. */
    static void loop() throws Exception {
        System.out.println("ready");
        while (System.in.read() >= 0) {
            allocate();
            contend();
            System.out.println("done");
        }
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "allocate" -> allocate();
            case "contend" -> contend();
            case "virtual" -> virtual();
            case "deadlock" -> deadlock();
            case "shortly" -> shortly(Integer.parseInt(arguments[1]));
            case "loop" -> loop();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }
}
