// SPDX-License-Identifier: Apache-2.0
package press;

/** Something in a page that is not Markdown as we know it. */
final class PageException extends RuntimeException {
    private static final long serialVersionUID = 1;

    PageException(String message) {
        super(message);
    }
}
