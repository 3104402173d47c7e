// SPDX-License-Identifier: Apache-2.0
package press;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Shows the finished site to browsers on this machine. */
final class Preview implements AutoCloseable {
    private final Path folder;
    private final HttpServer server;
    private final ExecutorService threads;
    private final AtomicInteger started = new AtomicInteger();

    private Preview(Path folder) throws IOException {
        this.folder = folder;
        threads = Executors.newFixedThreadPool(2, this::thread);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::handle);
        server.setExecutor(threads);
    }

    static Preview open(Path folder) throws IOException {
        // Without it every answer waits 40 ms for the receiver's word on its first half.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        Preview preview = new Preview(folder);
        preview.server.start();
        return preview;
    }

    private Thread thread(Runnable work) {
        return new Thread(work, "preview-" + started.incrementAndGet());
    }

    String address() {
        InetSocketAddress at = server.getAddress();
        return "http://" + at.getAddress().getHostAddress() + ":" + at.getPort() + "/";
    }

    private void handle(HttpExchange exchange) throws IOException {
        Path file = find(exchange.getRequestURI().getPath());
        if (file == null) {
            exchange.sendResponseHeaders(404, -1);
        } else {
            send(exchange, Files.readAllBytes(file));
        }
        exchange.close();
    }

    private Path find(String path) {
        Path file = folder.resolve(path.substring(1) + ".gz");
        return file.startsWith(folder) && Files.exists(file) ? file : null;
    }

    private static void send(HttpExchange exchange, byte[] bytes) throws IOException {
        exchange.getResponseHeaders().set("Content-Encoding", "gzip");
        exchange.sendResponseHeaders(200, bytes.length);
        try (OutputStream body = exchange.getResponseBody()) {
            body.write(bytes);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdown();
    }
}
