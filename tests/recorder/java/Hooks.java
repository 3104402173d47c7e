// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayDeque;
import java.util.Map;
import java.util.TreeMap;

/** What rewritten methods call: counts, and holds each thread's calls against a stack. */
public class Hooks {
    private static final Map<Integer, int[]> counts = new TreeMap<>();
    private static final ThreadLocal<ArrayDeque<Integer>> stacks =
            ThreadLocal.withInitial(ArrayDeque::new);
    private static int mismatches;

    private static synchronized void count(int id, int which) {
        counts.computeIfAbsent(id, key -> new int[3])[which]++;
    }

    public static void enter(int id) {
        stacks.get().push(id);
        count(id, 0);
    }

    private static void leave(int id, int which) {
        // A constructor whose super() throws has no handler: it is closed when its caller unrolls.
        while (!stacks.get().isEmpty()) {
            int top = Math.abs(stacks.get().pop());
            count(top, top == id ? which : 2);
            if (top == id) {
                return;
            }
        }
        mismatches++;
    }

    public static void exit(int id) {
        leave(id, 1);
    }

    public static void unroll(int id) {
        leave(id, 2);
    }

    private static void back(int id) {
        ArrayDeque<Integer> stack = stacks.get();
        while (stack.contains(id) && stack.peek() != id) {
            count(Math.abs(stack.pop()), 2);
        }
    }

    /** What lies above the nearest call of the method is left by what it has caught. */
    public static void caught(int id) {
        back(id);
    }

    /** The constructor is past super(): its call is turned over. */
    public static void made(int id) {
        back(id);
        stacks.get().push(-stacks.get().pop());
    }

    /** What such a constructor has caught: those that were left in super() are none of them. */
    public static void handled(int id) {
        back(-id);
    }

    /** Lines "ID ENTERED EXITED UNROLLED", then "mismatches N". */
    public static synchronized void print() {
        for (Map.Entry<Integer, int[]> entry : counts.entrySet()) {
            int[] n = entry.getValue();
            System.out.println(entry.getKey() + " " + n[0] + " " + n[1] + " " + n[2]);
        }
        System.out.println("mismatches " + mismatches);
    }
}
