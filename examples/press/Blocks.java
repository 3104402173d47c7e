// SPDX-License-Identifier: Apache-2.0
package press;

import java.util.ArrayList;
import java.util.List;

/** The blocks of a page: headings, paragraphs, code, and those that hold others. */
final class Blocks {
    private final Page page;
    private final Highlighter highlighter;
    private final StringBuilder html;

    Blocks(Page page, Highlighter highlighter, StringBuilder html) {
        this.page = page;
        this.highlighter = highlighter;
        this.html = html;
    }

    void document() {
        blocks(page.body());
    }

    private void blocks(List<String> lines) {
        int at = 0;
        while (at < lines.size()) {
            at = block(lines, at);
        }
    }

    private int block(List<String> lines, int at) {
        String line = lines.get(at);
        if (line.isEmpty()) {
            return at + 1;
        }
        if (line.startsWith("```")) {
            return code(lines, at);
        }
        if (line.startsWith("#")) {
            return heading(line, at);
        }
        if (line.startsWith("> ")) {
            return inside("blockquote", lines, at, "> ", "> ");
        }
        if (line.startsWith("- ")) {
            return list(lines, at);
        }
        return paragraph(lines, at);
    }

    private int list(List<String> lines, int at) {
        html.append("<ul>\n");
        while (at < lines.size() && lines.get(at).startsWith("- ")) {
            at = inside("li", lines, at, "- ", "  ");
        }
        html.append("</ul>\n");
        return at;
    }

    /** The lines of a block, of which the first begins so and the others so, as blocks again. */
    private int inside(String tag, List<String> lines, int at, String first, String others) {
        List<String> inner = new ArrayList<>();
        inner.add(lines.get(at++).substring(first.length()));
        while (at < lines.size() && lines.get(at).startsWith(others)) {
            inner.add(lines.get(at++).substring(others.length()));
        }
        html.append('<').append(tag).append('>');
        blocks(inner);
        html.append("</").append(tag).append(">\n");
        return at;
    }

    private int heading(String line, int at) {
        int level = line.indexOf(' ');
        html.append("<h").append(level).append('>');
        inline(line.substring(level + 1));
        html.append("</h").append(level).append(">\n");
        return at + 1;
    }

    private int paragraph(List<String> lines, int at) {
        StringBuilder text = new StringBuilder(lines.get(at++));
        while (at < lines.size() && !lines.get(at).matches("(|- .*|```.*)")) {
            text.append('\n').append(lines.get(at++));
        }
        html.append("<p>");
        inline(text.toString());
        html.append("</p>\n");
        return at;
    }

    private void inline(String text) {
        new Inline(new Source(text), page, html).text('\0');
    }

    private int code(List<String> lines, int at) {
        String language = lines.get(at).substring(3);
        int end = endOfCode(lines, at + 1);
        String text = String.join("\n", lines.subList(at + 1, end));
        html.append(language.equals("plot") ? Plot.draw(text) : highlighter.mark(language, text));
        return end + 1;
    }

    private int endOfCode(List<String> lines, int at) {
        while (at < lines.size() && !lines.get(at).equals("```")) {
            at++;
        }
        if (at == lines.size()) {
            throw new PageException("code without an end");
        }
        return at;
    }
}
