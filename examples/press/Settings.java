// SPDX-License-Identifier: Apache-2.0
package press;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;

/** What a site says of itself. */
final class Settings {
    private final Properties properties = new Properties();

    static Settings read(Path file) throws IOException {
        Settings settings = new Settings();
        try (Reader reader = Files.newBufferedReader(file)) {
            settings.properties.load(reader);
        }
        return settings;
    }

    String get(String name) {
        return properties.getProperty(name, "");
    }

    List<String> list(String name) {
        return List.of(get(name).split(" "));
    }
}
