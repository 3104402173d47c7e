// SPDX-License-Identifier: Apache-2.0
package press;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The list of all pages, heavy ones first. */
final class Sitemap {
    private Sitemap() {
    }

    static String of(List<Page> pages) {
        List<Page> sorted = new ArrayList<>(pages);
        sorted.sort(Comparator.comparing(Page::weight).reversed().thenComparing(Page::name));
        StringBuilder xml = new StringBuilder("<urlset>\n");
        for (Page page : sorted) {
            xml.append("<url><loc>").append(page.name()).append(".html</loc></url>\n");
        }
        return xml.append("</urlset>\n").toString();
    }
}
