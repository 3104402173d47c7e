// SPDX-License-Identifier: Apache-2.0
package press;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A page: a head of "name: value" lines, an empty line, Markdown. */
final class Page {
    private final String name;
    private final List<String> body = new ArrayList<>();
    private final List<String> links = new ArrayList<>();
    private String title = "";
    private int weight;

    private Page(String name) {
        this.name = name;
    }

    static Page read(Path file) throws IOException {
        String name = file.getFileName().toString();
        Page page = new Page(name.substring(0, name.length() - 3));
        boolean inHead = true;
        for (String line : Files.readAllLines(file)) {
            if (!inHead) {
                page.body.add(line);
            } else if (line.isEmpty()) {
                inHead = false;
            } else {
                page.head(line);
            }
        }
        return page;
    }

    private void head(String line) {
        int colon = line.indexOf(':');
        String value = line.substring(colon + 1).strip();
        if (line.startsWith("title")) {
            title = value;
        } else if (line.startsWith("weight")) {
            weight = number(value);
        }
    }

    private static int number(String text) {
        try {
            return parse(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static int parse(String text) {
        return Integer.parseInt(text);
    }

    String name() {
        return name;
    }

    String title() {
        return title;
    }

    int weight() {
        return weight;
    }

    List<String> body() {
        return body;
    }

    List<String> links() {
        return links;
    }
}
