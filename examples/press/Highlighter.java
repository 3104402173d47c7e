// SPDX-License-Identifier: Apache-2.0
package press;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Marks what is a word of the language, a number, a text or a comment in pieces of code. */
final class Highlighter {
    private static final Map<String, String> WORDS = Map.of(
            "shell", "for|do|done|if|then|fi|while|case|esac|echo",
            "java", "class|final|for|if|int|new|return|static|void|while",
            "c", "char|const|for|if|int|return|static|struct|void|while",
            "sql", "select|from|where|group|by|order|join|sum|count|insert|into");

    private final Map<String, Pattern> patterns = new HashMap<>();

    Highlighter(List<String> languages) {
        for (String language : languages) {
            patterns.put(language, compile(WORDS.getOrDefault(language, "x")));
        }
    }

    private static Pattern compile(String words) {
        return Pattern.compile("(?<word>\\b(?i:" + words + ")\\b)|(?<number>\\b\\d+(\\.\\d+)?\\b)"
                + "|(?<text>\"([^\"\\\\]|\\\\.)*\"|'[^']*')|(?<comment>(#|//|--)[^\\n]*)");
    }

    String mark(String language, String code) {
        Pattern pattern = patterns.get(language);
        if (pattern == null) {
            throw new PageException("no such language: " + language);
        }
        var matcher = pattern.matcher(code.replace("&", "&amp;").replace("<", "&lt;"));
        return "<pre>" + matcher.replaceAll("<b>$0</b>") + "</pre>\n";
    }
}
