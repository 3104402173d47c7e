// SPDX-License-Identifier: Apache-2.0
package press;

/** A text and a place in it. */
final class Source {
    private final String text;
    private int at;

    Source(String text) {
        this.text = text;
    }

    /** The character here, 0 at the end. */
    char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    char next() {
        char here = peek();
        at++;
        return here;
    }

    /** What comes before one of these characters. */
    String until(String ends) {
        int from = at;
        while (at < text.length() && ends.indexOf(text.charAt(at)) < 0) {
            at++;
        }
        return text.substring(from, at);
    }

    void skipBlanks() {
        while (peek() == ' ') {
            next();
        }
    }
}
