// SPDX-License-Identifier: Apache-2.0

/** Nearly all of the work is in heavy, which the compiler puts into run: no safepoint lies in it. */
public class Bias {
    static volatile long sink;

    static int heavy(int i) {
        int x = i;
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        x *= 31;
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        x *= 31;
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        x *= 31;
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        return x;
    }

    static int light(int i) {
        return i + 1;
    }

    static int run(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += heavy(sum);
            sum += light(i);
        }
        return sum;
    }

    public static void main(String[] arguments) {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        while (System.nanoTime() < end) {
            sink += run(100_000);
        }
    }
}
