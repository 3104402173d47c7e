// SPDX-License-Identifier: Apache-2.0
package press;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** What all pages have around them. */
final class Theme {
    private final Settings settings;
    private final Template template;

    private Theme(Settings settings, Template template) {
        this.settings = settings;
        this.template = template;
    }

    static Theme load(Path file, Settings settings) throws IOException {
        return new Theme(settings, Template.parse(Files.readString(file)));
    }

    String dress(Page page, String html) {
        return template.expand(Map.of(
                "site", settings.get("title"),
                "title", page.title(),
                "heavy", page.weight() > 5 ? "yes" : "",
                "body", html));
    }
}
