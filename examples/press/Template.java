// SPDX-License-Identifier: Apache-2.0
package press;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Text with {name} for a value and {?name ... } for what stands there only with one. */
final class Template {
    private final String text; // of a leaf
    private final String name; // of a value, or of the condition of parts
    private final List<Template> parts = new ArrayList<>();

    private Template(String text, String name) {
        this.text = text;
        this.name = name;
    }

    static Template parse(String text) {
        Template root = new Template(null, null);
        root.parts(new Source(text), '\0');
        return root;
    }

    private void parts(Source source, char end) {
        while (source.peek() != end) {
            parts.add(part(source));
        }
        source.next();
    }

    private static Template part(Source source) {
        if (source.peek() != '{') {
            return new Template(source.until("{}"), null);
        }
        source.next();
        if (source.peek() != '?') {
            Template value = new Template(null, source.until("}"));
            source.next();
            return value;
        }
        source.next();
        Template condition = new Template(null, source.until(" "));
        condition.parts(source, '}');
        return condition;
    }

    String expand(Map<String, String> values) {
        StringBuilder out = new StringBuilder();
        expand(values, out);
        return out.toString();
    }

    private void expand(Map<String, String> values, StringBuilder out) {
        if (text != null) {
            out.append(text);
        } else if (name != null && parts.isEmpty()) {
            out.append(values.get(name));
        } else if (name == null || !values.get(name).isEmpty()) {
            for (Template part : parts) {
                part.expand(values, out);
            }
        }
    }
}
