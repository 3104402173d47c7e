// SPDX-License-Identifier: Apache-2.0
package press;

import java.util.Locale;

/** What a search takes for the same word. */
final class Words {
    private Words() {
    }

    static String stem(String word) {
        String lower = word.toLowerCase(Locale.ROOT);
        for (String ending : new String[] {"ing", "ers", "es", "ed", "s"}) {
            if (lower.length() > ending.length() + 3 && lower.endsWith(ending)) {
                return lower.substring(0, lower.length() - ending.length());
            }
        }
        return lower;
    }

    /** How many letters must change to make one of the other. */
    static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int corner = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = corner + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                corner = row[j];
                row[j] = Math.min(change, 1 + Math.min(corner, row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
