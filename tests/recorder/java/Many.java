// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** So many loaded classes, all copies of one, and one class that cannot be linked. */
public class Many {
    /** A class that is not there when the program runs. */
    static class Gone extends Thread {}

    /** The verifier has to load Gone, so that this class loads but does not link. */
    static class Broken {
        static Thread give() {
            return new Gone();
        }
    }

    static class Copies extends ClassLoader {
        private final String template;

        Copies() throws IOException {
            super(Many.class.getClassLoader());
            template = text("Small000000");
        }

        static String text(String name) throws IOException {
            String file = name.replace('.', '/') + ".class";
            return new String(Many.class.getClassLoader().getResourceAsStream(file).readAllBytes(),
                StandardCharsets.ISO_8859_1);
        }

        IntUnaryOperator copy(int number) throws ReflectiveOperationException {
            String text = template.replace("Small000000", String.format("Small%06d", number));
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            Constructor<?> made = defineClass(null, bytes, 0, bytes.length).getDeclaredConstructor();
            made.setAccessible(true);
            return (IntUnaryOperator) made.newInstance();
        }

        Class<?> broken() throws IOException {
            byte[] bytes = text("Many$Broken").getBytes(StandardCharsets.ISO_8859_1);
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Copies copies = new Copies();
        List<IntUnaryOperator> all = new ArrayList<>();
        for (int i = 1; i <= Integer.parseInt(arguments[0]); i++) {
            all.add(copies.copy(i));
        }
        copies.broken();
        System.out.println("ready");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        while (orders.readLine() != null) {
            for (IntUnaryOperator one : all) {
                one.applyAsInt(1);
            }
            System.out.println("worked");
        }
    }
}

class Small000000 implements IntUnaryOperator {
    Small000000() {}

    @Override
    public int applyAsInt(int n) {
        return n + 1;
    }
}
