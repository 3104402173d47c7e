// SPDX-License-Identifier: Apache-2.0
package press;

/** The inside of a paragraph: *emphasis*, `code`, [links](to), one in another. */
final class Inline {
    private final Source source;
    private final Page page;
    private final StringBuilder html;

    Inline(Source source, Page page, StringBuilder html) {
        this.source = source;
        this.page = page;
        this.html = html;
    }

    /** Up to the character that ends it. */
    void text(char end) {
        while (source.peek() != end) {
            if (source.peek() == 0) {
                throw new PageException("no " + end + " where a line ends");
            }
            piece();
        }
        source.next();
    }

    private void piece() {
        switch (source.peek()) {
            case '*' -> emphasis();
            case '`' -> code();
            case '[' -> link();
            default -> plain();
        }
    }

    private void emphasis() {
        source.next();
        html.append("<em>");
        text('*');
        html.append("</em>");
    }

    private void code() {
        source.next();
        html.append("<code>");
        escape(source.until("`"));
        source.next();
        html.append("</code>");
    }

    private void link() {
        source.next();
        int from = html.length();
        text(']');
        String label = html.substring(from);
        source.next();
        String target = source.until(")");
        source.next();
        page.links().add(target);
        html.setLength(from);
        html.append("<a href=\"").append(target).append("\">").append(label).append("</a>");
    }

    private void plain() {
        escape(source.until("*`[]"));
    }

    private void escape(String text) {
        html.append(text.replace("&", "&amp;").replace("<", "&lt;"));
    }
}
