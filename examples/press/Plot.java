// SPDX-License-Identifier: Apache-2.0
package press;

import java.util.Locale;

/** The line of a formula over the days of a year. */
final class Plot {
    private static final int POINTS = 37;

    private Plot() {
    }

    static String draw(String text) {
        Formula formula = Formula.read(text);
        StringBuilder line = new StringBuilder("<svg viewBox=\"0 0 366 60\"><polyline points=\"");
        for (int i = 0; i < POINTS; i++) {
            point(line, i * 10, formula.at(i * 10));
        }
        return line.append("\"/></svg>\n").toString();
    }

    private static void point(StringBuilder line, double x, double y) {
        line.append(String.format(Locale.ROOT, "%.0f,%.2f ", x, 60 - y));
    }
}
