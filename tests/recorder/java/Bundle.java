// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.util.function.IntUnaryOperator;

/** Loads its class as an OSGi framework does: java.* from the parent, all else by itself. */
public class Bundle extends ClassLoader {
    public static class Inside implements IntUnaryOperator {
        public int applyAsInt(int n) {
            return work(n);
        }

        static int work(int n) {
            return n == 0 ? 0 : 1 + work(n - 1);
        }
    }

    Bundle() {
        super(null);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (name.startsWith("java.")) {
            return ClassLoader.getPlatformClassLoader().loadClass(name);
        }
        try (InputStream in = ClassLoader.getSystemResourceAsStream(name + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = in.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    /** Calls work ten times in each of three loaders, then again until there is input. */
    public static void main(String[] arguments) throws Exception {
        IntUnaryOperator work = null;
        for (int i = 0; i < 3; i++) {
            Class<?> inside = new Bundle().loadClass("Bundle$Inside");
            work = (IntUnaryOperator) inside.getConstructor().newInstance();
            work.applyAsInt(9);
        }
        System.out.println("ready");
        while (arguments.length > 0 && System.in.available() == 0) {
            work.applyAsInt(9);
            Thread.sleep(1);
        }
    }
}
