// SPDX-License-Identifier: Apache-2.0
package traceview;

import java.io.File;
import java.net.URISyntaxException;
import java.security.CodeSource;

/**
 * Finds and loads the native library that does the work, libtraceview-agent.so. Programs need not
 * call it: the other classes of this jar do.
 *
 * <p>Where the library is looked for:
 *
 * <ol>
 *   <li>the very file that the machine was started with or that was attached to it
 *       ({@code -agentpath:}), if there is one;
 *   <li>the folder, or the file, that property {@code traceview.library.path} names; then nowhere
 *       else;
 *   <li>the folder of this jar and the one above it;
 *   <li>the folders of property {@code java.library.path}.
 * </ol>
 *
 * <p>Without {@code -agentpath:}, property {@code traceview.options} holds options as that takes
 * them, such as {@code boot=y,exclude=com.example.*}; those that start, stop or name a recording
 * mean nothing then.
 */
public final class Recorder {
    private static final String FILE = "libtraceview-agent.so";

    private static boolean ready;

    private Recorder() {}

    /**
     * Loads the library, unless that was done.
     *
     * @throws UnsatisfiedLinkError it is not there, or this machine has no JVMTI
     * @throws IllegalArgumentException property {@code traceview.options} is wrong
     */
    public static synchronized void load() {
        if (ready) {
            return;
        }
        loadLibrary();
        String why = connect(System.getProperty("traceview.options"));
        if (why != null && why.startsWith("this machine")) {
            throw new UnsatisfiedLinkError(why);
        }
        if (why != null) {
            throw new IllegalArgumentException("traceview.options: " + why);
        }
        ready = true;
    }

    private static void loadLibrary() {
        String agent = System.getProperty("traceview.agent");
        String given = System.getProperty("traceview.library.path");
        if (agent != null) {
            System.load(agent);
            return;
        }
        if (given != null) {
            File file = new File(given);
            System.load((file.isDirectory() ? new File(file, FILE) : file).getAbsolutePath());
            return;
        }
        File near = nearJar();
        if (near != null) {
            System.load(near.getAbsolutePath());
            return;
        }
        try {
            System.loadLibrary("traceview-agent");
        } catch (UnsatisfiedLinkError e) {
            throw new UnsatisfiedLinkError(
                    FILE + " is not there; -Dtraceview.library.path=FOLDER says where it is");
        }
    }

    /** The library beside the jar or one folder above it, or null. */
    private static File nearJar() {
        CodeSource source = Recorder.class.getProtectionDomain().getCodeSource();
        if (source == null || source.getLocation() == null) {
            return null;
        }
        try {
            File folder = new File(source.getLocation().toURI()).getAbsoluteFile();
            for (int i = 0; i < 2 && folder != null; i++) {
                folder = folder.getParentFile();
                File file = new File(folder, FILE);
                if (folder != null && file.isFile()) {
                    return file;
                }
            }
        } catch (URISyntaxException | IllegalArgumentException e) {
            return null; // no file, but something on a network
        }
        return null;
    }

    /** Null, or what is wrong. */
    private static native String connect(String options);
}
