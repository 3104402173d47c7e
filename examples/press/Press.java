// SPDX-License-Identifier: Apache-2.0
package press;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Makes a web site of the Markdown pages in a folder, then asks its own preview server for every
 * page and every link.
 *
 * <pre>press.Press SITE OUT</pre>
 */
public final class Press {
    private static final int WORKERS = 3;

    private final Path site;
    private final Path out;
    private final Queue<Page> todo = new Queue<>();
    private final List<Page> pages = new ArrayList<>();
    private final List<Thread> workers = new ArrayList<>();
    private final SearchIndex index = new SearchIndex();
    private Settings settings;
    private Theme theme;
    private Writer writer;

    private Press(Path site, Path out) {
        this.site = site;
        this.out = out;
    }

    public static void main(String[] arguments) throws Exception {
        Press press = new Press(Path.of(arguments[0]), Path.of(arguments[1]));
        press.start();
        press.read();
        press.finish();
        press.check();
    }

    private void start() throws IOException {
        settings = Settings.read(site.resolve("settings"));
        writer = new Writer(Files.createDirectories(out));
        writer.start();
        theme = Theme.load(site.resolve("theme.html"), settings);
        Highlighter highlighter = new Highlighter(settings.list("languages"));
        for (int i = 1; i <= WORKERS; i++) {
            workers.add(new Worker("press-" + i, todo, new Builder(theme, highlighter, index, writer)));
        }
        workers.forEach(Thread::start);
    }

    private void read() throws IOException {
        List<Path> files = new ArrayList<>();
        try (var found = Files.newDirectoryStream(site, "*.md")) {
            found.forEach(files::add);
        }
        Collections.sort(files);
        for (Path file : files) {
            Page page = Page.read(file);
            pages.add(page);
            todo.put(page);
        }
        todo.close();
    }

    private void finish() throws IOException, InterruptedException {
        for (Thread worker : workers) {
            join(worker);
        }
        index.save(writer);
        writer.put("sitemap.xml", Sitemap.of(pages));
        writer.end();
        join(writer);
    }

    private static void join(Thread thread) throws InterruptedException {
        thread.join();
    }

    private void check() throws IOException {
        try (Preview preview = Preview.open(out)) {
            Checker checker = new Checker(preview.address());
            for (Page page : pages) {
                checker.check(page);
            }
            System.out.println(pages.size() + " pages, " + checker.broken() + " broken links");
        }
    }
}
