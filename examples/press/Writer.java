// SPDX-License-Identifier: Apache-2.0
package press;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;

/** The thread that packs files and writes them. */
final class Writer extends Thread {
    private record File(String name, String text) {
    }

    private final Path folder;
    private final Queue<File> files = new Queue<>();

    Writer(Path folder) {
        super("writer");
        this.folder = folder;
    }

    void put(String name, String text) {
        files.put(new File(name, text));
    }

    void end() {
        files.close();
    }

    @Override
    public void run() {
        try {
            for (File file = files.take(); file != null; file = files.take()) {
                save(file);
            }
        } catch (IOException | InterruptedException e) {
            System.out.println("writer: " + e);
        }
    }

    private void save(File file) throws IOException {
        Files.write(folder.resolve(file.name + ".gz"), pack(file.text));
    }

    private static byte[] pack(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream packed = new GZIPOutputStream(bytes)) {
            packed.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }
}
