// SPDX-License-Identifier: Apache-2.0
package press;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/** Asks for pages and for what they lead to. */
final class Checker {
    private final String address;
    private final Map<String, Boolean> known = new HashMap<>();
    private int broken;

    Checker(String address) {
        this.address = address;
    }

    void check(Page page) throws IOException {
        follow(page, page.name() + ".html");
        for (String link : page.links()) {
            follow(page, link);
        }
    }

    private void follow(Page page, String link) throws IOException {
        if (known.containsKey(link)) {
            return;
        }
        try {
            fetch(link);
            known.put(link, true);
        } catch (FileNotFoundException e) {
            known.put(link, false);
            broken++;
            System.out.println(page.name() + ": leads to " + link + ", which is not there");
        }
    }

    private int fetch(String link) throws IOException {
        try (InputStream body = open(link)) {
            return new GZIPInputStream(body).readAllBytes().length;
        }
    }

    private InputStream open(String link) throws IOException {
        return URI.create(address + link).toURL().openConnection().getInputStream();
    }

    int broken() {
        return broken;
    }
}
