// SPDX-License-Identifier: Apache-2.0
package press;

/** A thread that builds page after page. */
final class Worker extends Thread {
    private final Queue<Page> todo;
    private final Builder builder;

    Worker(String name, Queue<Page> todo, Builder builder) {
        super(name);
        this.todo = todo;
        this.builder = builder;
    }

    @Override
    public void run() {
        try {
            for (Page page = todo.take(); page != null; page = todo.take()) {
                build(page);
            }
        } catch (InterruptedException e) {
            interrupt();
        }
    }

    private void build(Page page) {
        try {
            builder.build(page);
        } catch (PageException e) {
            builder.apologize(page, e);
        }
    }
}
