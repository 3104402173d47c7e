// SPDX-License-Identifier: Apache-2.0
package press;

import java.util.ArrayDeque;

/** Things that wait for a thread. */
final class Queue<T> {
    private final ArrayDeque<T> things = new ArrayDeque<>();
    private boolean closed;

    synchronized void put(T thing) {
        things.add(thing);
        notify();
    }

    synchronized void close() {
        closed = true;
        notifyAll();
    }

    /** Waits for the next one; null after the last. */
    synchronized T take() throws InterruptedException {
        while (things.isEmpty() && !closed) {
            wait();
        }
        return things.poll();
    }
}
