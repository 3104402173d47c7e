// SPDX-License-Identifier: Apache-2.0
package press;

import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Which words are where, and which are much alike.  Workers add to it one at a time. */
final class SearchIndex {
    private static final int LONG = 7;

    private final Map<String, TreeSet<String>> places = new TreeMap<>();

    synchronized void add(Page page) {
        for (String line : page.body()) {
            for (String word : line.split("[^\\p{L}]+")) {
                if (word.length() > 3) {
                    places.computeIfAbsent(Words.stem(word), w -> new TreeSet<>()).add(page.name());
                }
            }
        }
    }

    synchronized void save(Writer writer) {
        StringBuilder out = new StringBuilder();
        for (var entry : places.entrySet()) {
            out.append(entry.getKey()).append('\t').append(String.join(" ", entry.getValue()));
            if (entry.getKey().length() >= LONG) {
                out.append('\t').append(nearest(entry.getKey()));
            }
            out.append('\n');
        }
        writer.put("search.txt", out.toString());
    }

    private String nearest(String word) {
        String found = "";
        int least = word.length();
        for (String other : places.keySet()) {
            if (other.charAt(0) != word.charAt(0) || other.equals(word)) {
                continue;
            }
            int distance = Words.distance(word, other);
            if (distance < least) {
                least = distance;
                found = other;
            }
        }
        return found;
    }
}
