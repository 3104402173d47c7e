// SPDX-License-Identifier: Apache-2.0
package press;

/** From the text of a page to a file of the site. */
final class Builder {
    private final Theme theme;
    private final Highlighter highlighter;
    private final SearchIndex index;
    private final Writer writer;

    Builder(Theme theme, Highlighter highlighter, SearchIndex index, Writer writer) {
        this.theme = theme;
        this.highlighter = highlighter;
        this.index = index;
        this.writer = writer;
    }

    void build(Page page) {
        StringBuilder html = new StringBuilder();
        new Blocks(page, highlighter, html).document();
        index.add(page);
        writer.put(page.name() + ".html", theme.dress(page, html.toString()));
    }

    void apologize(Page page, PageException why) {
        System.out.println(page.name() + ": " + why.getMessage());
        writer.put(page.name() + ".html", theme.dress(page, "<p>This page is being mended.</p>"));
    }
}
