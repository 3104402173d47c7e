/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.c - shows an address in the user's browser, without putting it on a command line.
 */
#include "viewer/viewer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/out.h"
#include "base/program.h"

static bool browser_env_is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

/* ---- The file that redirects to the address ---- */

/* Make a directory that only this user can read.  XDG_RUNTIME_DIR is preferred: it is gone after a
 * logout. */
static bool browser_make_private_directory(struct tv_browser *browser)
{
    static const char *const variables[] = {"XDG_RUNTIME_DIR", "TMPDIR"};
    const char *parent = "/tmp";
    for (size_t i = TV_COUNT(variables); i-- > 0;)
        if (browser_env_is_set(variables[i]))
            parent = getenv(variables[i]);
    int length =
        snprintf(browser->directory, sizeof browser->directory, "%s/traceview-XXXXXX", parent);
    if (length > 0 && (size_t)length < sizeof browser->directory && mkdtemp(browser->directory))
        return true;
    browser->directory[0] = '\0';
    return false;
}

static void browser_write_redirect_page(struct tv_out *out, const char *address)
{
    tv_out_text(out, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>traceview</title>\n"
                     "<meta name=\"referrer\" content=\"no-referrer\">\n"
                     "<meta http-equiv=\"refresh\" content=\"0; url=");
    tv_out_xml(out, tv_bytes_of(address));
    tv_out_text(out, "\">\n<a href=\"");
    tv_out_xml(out, tv_bytes_of(address));
    tv_out_text(out, "\">traceview</a>\n");
}

/* Write a page that leads to the address, readable by the user alone: the token must not stand in
 * the list of processes, where a browser's arguments are seen by all. */
static bool browser_write_redirect_file(const struct tv_browser *browser, const char *address)
{
    struct tv_out page;
    int file = open(browser->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    tv_out_init_memory(&page);
    browser_write_redirect_page(&page, address);
    bool done = write(file, page.buffer, page.length) == (ssize_t)page.length;
    tv_out_release(&page);
    return close(file) == 0 && done;
}

bool tv_browser_open(struct tv_browser *browser, const char *address)
{
    *browser = (struct tv_browser){.directory = ""};
    if (!browser_env_is_set("DISPLAY") && !browser_env_is_set("WAYLAND_DISPLAY"))
        return false;
    if (!browser_make_private_directory(browser))
        return false;
    snprintf(browser->file, sizeof browser->file, "%s/open.html", browser->directory);
    /* no output in our terminal, and Ctrl-C there is for the viewer only */
    const struct tv_program xdg_open = {
        .name = "xdg-open",
        .words = (const char *const[]){"xdg-open", browser->file, NULL},
        .fds = (const struct tv_program_fd[]){{0, -1}, {1, -1}, {2, -1}},
        .fd_count = 3,
        .own_group = true};
    pid_t process;
    if (browser_write_redirect_file(browser, address) && tv_program_start(&xdg_open, &process) == 0)
        return true;
    tv_browser_close(browser);
    return false;
}

void tv_browser_close(struct tv_browser *browser)
{
    if (browser->directory[0] == '\0')
        return;
    unlink(browser->file);
    rmdir(browser->directory);
    browser->directory[0] = '\0';
}
