// SPDX-License-Identifier: Apache-2.0
package press;

/** A formula of one unknown: read by recursive descent into a tree, which is asked for values. */
abstract class Formula {
    abstract double at(double x);

    static Formula read(String text) {
        return sum(new Source(text));
    }

    private static Formula sum(Source source) {
        Formula left = product(source);
        source.skipBlanks();
        while (source.peek() == '+' || source.peek() == '-') {
            left = new Operation(source.next(), left, product(source));
            source.skipBlanks();
        }
        return left;
    }

    private static Formula product(Source source) {
        Formula left = factor(source);
        source.skipBlanks();
        while (source.peek() == '*' || source.peek() == '/') {
            left = new Operation(source.next(), left, factor(source));
            source.skipBlanks();
        }
        return left;
    }

    private static Formula factor(Source source) {
        source.skipBlanks();
        if (source.peek() == '(') {
            source.next();
            Formula inner = sum(source);
            source.next();
            return inner;
        }
        String word = source.until(" +-*/()");
        if (word.equals("sin")) {
            return new Sine(factor(source));
        }
        return word.equals("x") ? new Unknown() : new Value(number(word));
    }

    private static double number(String word) {
        try {
            return Double.parseDouble(word);
        } catch (NumberFormatException e) {
            throw new PageException("\"" + word + "\" is not a number");
        }
    }

    private static final class Value extends Formula {
        private final double value;

        Value(double value) {
            this.value = value;
        }

        @Override
        double at(double x) {
            return value;
        }
    }

    private static final class Unknown extends Formula {
        @Override
        double at(double x) {
            return x;
        }
    }

    private static final class Sine extends Formula {
        private final Formula of;

        Sine(Formula of) {
            this.of = of;
        }

        @Override
        double at(double x) {
            return Math.sin(of.at(x));
        }
    }

    private static final class Operation extends Formula {
        private final char sign;
        private final Formula left;
        private final Formula right;

        Operation(char sign, Formula left, Formula right) {
            this.sign = sign;
            this.left = left;
            this.right = right;
        }

        @Override
        double at(double x) {
            double a = left.at(x);
            double b = right.at(x);
            return switch (sign) {
                case '+' -> a + b;
                case '-' -> a - b;
                case '*' -> a * b;
                default -> a / b;
            };
        }
    }
}
